"""Memory after an unload, with samples that are made by hand; and a process that cannot be ended."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.notices import Notice, Notices
from app.worker.freed import NOTICE, FreedCheck
from app.worker.process import WorkerProcess
from engine.client.session import WorkerState
from engine.memory.records import MemorySnapshot
from engine.protocol.frames import Loaded
from tests.app.worker.conftest import Bench
from tests.app.worker.test_silence import DEAF
from tests.engine.memory.test_freed import BEFORE, DESKTOP, sample


class Scale:
    """A bench with a loaded model, whose memory is weighed by hand."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.now = 100.0
        notices = Notices()
        self.notices: list[Notice] = []
        self.withdrawn: list[str] = []
        notices.posted.connect(self.notices.append)
        notices.withdrawn.connect(self.withdrawn.append)
        self.check = FreedCheck(bench.service, notices, bench.service, lambda: self.now)
        bench.until_ended(bench.load())

    def weigh(self, snapshot: MemorySnapshot, later: float = 1.0) -> None:
        self.now += later
        self.check.take(msgspec.structs.replace(snapshot, taken=self.now))

    def unload(self) -> None:
        self.bench.service.unload()
        self.bench.until_state(WorkerState.STOPPED)


@pytest.fixture
def scale(make_bench: Any) -> Scale:
    return Scale(make_bench())


def test_memory_that_came_back_is_no_word(scale: Scale) -> None:
    scale.weigh(BEFORE)
    scale.unload()
    scale.weigh(sample(7, DESKTOP))
    scale.weigh(sample(1, DESKTOP), later=4)
    scale.weigh(sample(7, DESKTOP))
    assert scale.notices == [], "the driver gets some seconds, and is looked at once"


def test_memory_that_stays_taken_is_told_with_the_facts(scale: Scale) -> None:
    scale.weigh(BEFORE)
    scale.unload()
    scale.weigh(sample(7, DESKTOP), later=5)
    (notice,) = scale.notices
    assert notice.text.startswith("6.0 GiB of the memory of Radeon stay taken though the engine has ended. Close ")
    assert notice.detail == "Radeon (0000:03:00.0): 6.0 GiB unexplained\nkwin (process 5): 1.0 GiB"
    scale.bench.until_ended(scale.bench.load())
    assert NOTICE in scale.withdrawn


def test_a_crash_is_looked_at_too(make_bench: Any) -> None:
    scale = Scale(make_bench(runs=[{"generate": {"signal": "SIGSEGV"}}, {}]))
    scale.weigh(BEFORE)
    scale.bench.until_ended(scale.bench.ask())
    scale.weigh(sample(7, DESKTOP), later=5)
    assert len(scale.notices) == 1


def test_old_or_missing_samples_say_nothing(scale: Scale) -> None:
    scale.weigh(BEFORE)
    scale.now += 60
    scale.unload()
    scale.weigh(sample(7, DESKTOP), later=5)
    assert scale.notices == []


def test_a_sample_that_comes_much_later_is_not_compared(scale: Scale) -> None:
    scale.weigh(BEFORE)
    scale.unload()
    scale.weigh(sample(7, DESKTOP), later=600)
    assert scale.notices == []


def test_a_new_load_takes_the_memory_again(scale: Scale) -> None:
    scale.weigh(BEFORE)
    scale.unload()
    scale.bench.until_ended(scale.bench.load())
    scale.weigh(sample(7, DESKTOP), later=5)
    assert scale.notices == []


def test_a_process_that_cannot_be_ended_is_left_behind_and_told(make_bench: Any, monkeypatch: Any) -> None:
    """Stuck in a driver: SIGKILL does nothing. Here it is not sent."""
    bench = make_bench(runs=[DEAF, {}])
    bench.until_ended(bench.load())
    pid = bench.service.pid
    process = bench.service._link._process
    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, "_signal", lambda *_which: None)
        bench.service.unload()
        process._timer.setInterval(10)
        bench.until_state(WorkerState.STOPPED)
    assert bench.notices[-1].text.startswith(f"The engine (process {pid}) cannot be ended: a driver")
    load = bench.load()
    bench.until_ended(load)
    assert isinstance(load.end, Loaded)
    assert bench.service.pid != pid
    process.kill()
    bench.until(lambda: f"worker-stuck-{pid}" in bench.withdrawn)
    assert bench.deaths == []
