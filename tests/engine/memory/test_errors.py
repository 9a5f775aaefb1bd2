"""Case 83: any OSError, once in the log, and the other values go on."""

from __future__ import annotations

import errno
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory.sampler import MemorySampler
from tests.engine.memory.conftest import WORKER, Recorder

Machine = Callable[[str], Path]
KINDS = (errno.EBUSY, errno.ENOTSUP, errno.ENODEV, errno.EIO, errno.EPERM, errno.EACCES, errno.ENOENT)


@pytest.mark.parametrize("number", KINDS)
def test_a_refused_sensor_is_one_unknown_value(machine: Machine, number: int) -> None:
    root = machine("rx7900xtx")
    reader = Recorder(root)
    reader.errors = {"gpu_busy_percent": number}
    (gpu,) = MemorySampler(root, read=reader).sample().gpus
    assert gpu.busy_percent is None
    assert gpu.vram.used == 10307921510
    assert gpu.power_w == 211.0


def test_a_hundred_samples_write_one_line_for_each_file_and_kind(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    root = machine("rx7900xtx")
    reader = Recorder(root)
    sampler = MemorySampler(root, read=reader, clock=iter(range(1000)).__next__)
    with caplog.at_level(logging.DEBUG, "engine.memory"):
        for turn in range(100):
            kind = KINDS[turn % 3]
            reader.errors = {"gpu_busy_percent": kind, "temp1_input": kind, "mem_info_gtt_used": kind, "meminfo": kind}
            (gpu,) = sampler.sample(WORKER).gpus
            assert gpu.vram.used == 10307921510
            assert (gpu.busy_percent, gpu.temperature_c, gpu.gtt.used) == (None, None, None)
    lines = Counter(record.getMessage() for record in caplog.records)
    assert len(lines) == 4 * 3, lines
    assert set(lines.values()) == {1}


def test_a_card_that_lost_all_its_files_writes_as_little(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    root = machine("steam_deck")
    for path in (root / "sys/class/drm/card0/device").glob("mem_info_*"):
        path.unlink()
    sampler = MemorySampler(root, clock=iter(range(1000)).__next__)
    with caplog.at_level(logging.DEBUG, "engine.memory"):
        for _ in range(100):
            sampler.sample(WORKER)
    assert max(Counter(record.getMessage() for record in caplog.records).values()) == 1


def test_files_of_processes_that_vanish_are_not_worth_a_line(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    root = machine("steam_deck")
    reader = Recorder(root)
    reader.errors = {"fdinfo/7": errno.ESRCH, "fdinfo/12": errno.ENOENT, "4242/status": errno.ESRCH}
    with caplog.at_level(logging.DEBUG, "engine.memory"):
        snapshot = MemorySampler(root, read=reader).sample(WORKER, whole=True)
    assert not [record for record in caplog.records if "proc/" in record.getMessage()]
    assert snapshot.worker is not None
    assert snapshot.worker.ram is None
    assert [process.pid for process in snapshot.gpus[0].processes] == [4242, 1200]
