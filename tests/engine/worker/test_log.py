"""llama.cpp's log: pieces, levels, and the load report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.types import MemoryUse
from engine.worker.log import Level, LoadReport, NativeLog, device_of_buffer

MIB = 1024 * 1024

LOAD = """
load_tensors: offloading output layer to GPU
load_tensors: offloaded 17/31 layers to GPU
load_tensors:   CPU_Mapped model buffer size =    38.00 MiB
load_tensors:      Vulkan0 model buffer size =    54.50 MiB
llama_context: Vulkan_Host  output buffer size =     0.50 MiB
llama_kv_cache:    Vulkan0 KV buffer size =    90.00 MiB
llama_kv_cache:    Vulkan0 KV buffer size =    10.00 MiB
llama_memory_recurrent:        CPU RS buffer size =     2.00 MiB
sched_reserve:    Vulkan0 compute buffer size =    98.25 MiB
sched_reserve:    Vulkan0 compute buffer size =    99.25 MiB
sched_reserve: Vulkan_Host compute buffer size =     4.00 MiB
"""


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    path = tmp_path / "log"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    yield fd, path
    os.close(fd)


def test_load_report() -> None:
    report = LoadReport()
    for line in LOAD.splitlines():
        report.take(line)
    assert report.offloaded == 17
    assert report.memory() == (
        MemoryUse(device="Vulkan0", weights=int(54.5 * MIB), kv=100 * MIB, compute=int(99.25 * MIB)),
        MemoryUse(device="CPU", weights=38 * MIB, kv=2 * MIB, compute=4 * MIB, output=MIB // 2),
    )


@pytest.mark.parametrize(
    ("buffer", "device"),
    [("CPU", "CPU"), ("CPU_REPACK", "CPU"), ("Vulkan_Host", "CPU"), ("Vulkan1", "Vulkan1"), ("ROCm0", "ROCm0")],
)
def test_where_a_buffer_lies(buffer: str, device: str) -> None:
    assert device_of_buffer(buffer) == device


def test_pieces_make_a_line_and_keep_their_level(log_file: tuple[int, Path]) -> None:
    log = NativeLog(log_file[0])
    log.take(Level.ERROR, b"first ")
    log.take(Level.CONT, b"half\nsec")
    log.take(Level.CONT, b"ond\n")
    assert log_file[1].read_text() == "E first half\nE second\n"
    assert log.tail() == "E first half\nE second"


def test_debug_lines_are_understood_but_not_written(log_file: tuple[int, Path]) -> None:
    log = NativeLog(log_file[0])
    log.take(Level.DEBUG, b"x: CPU compute buffer size = 1.00 MiB\n")
    assert log_file[1].read_text() == ""
    assert log.report.memory() == (MemoryUse(device="CPU", compute=MIB),)


def test_a_new_load_forgets_the_last_one(log_file: tuple[int, Path]) -> None:
    log = NativeLog(log_file[0])
    log.take(Level.INFO, b"x: CPU KV buffer size = 1.00 MiB\n")
    log.begin_load()
    assert log.report.memory() == ()
    assert log.tail() == ""


def test_a_closed_log_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    NativeLog(writing).write("nobody reads this")


@given(st.lists(st.tuples(st.integers(-3, 9), st.binary(max_size=40))))
def test_anything_may_come(calls: list[tuple[int, bytes]]) -> None:
    fd = os.open(os.devnull, os.O_WRONLY)
    try:
        log = NativeLog(fd)
        for level, text in calls:
            log.take(level, text)
        assert len(log.tail().splitlines()) <= 200 * len(calls)
    finally:
        os.close(fd)


def test_flash_attention_is_what_was_taken_in_the_end() -> None:
    cases = {
        ("flash_attn            = enabled",): True,
        ("flash_attn            = disabled",): False,
        ("flash_attn            = auto",): None,
        ("flash_attn            = auto", "resolve_fused_ops: Flash Attention enabled"): True,
        ("flash_attn            = auto", "resolve_fused_ops: Flash Attention not supported, set to disabled"): False,
    }
    for lines, expected in cases.items():
        report = LoadReport()
        for line in lines:
            report.take(f"llama_context: {line}")
        assert report.flash_attention is expected


def test_the_parts_of_a_split_by_tensors_are_named_by_device() -> None:
    report = LoadReport()
    for line in ("Meta() model buffer size =    2.00 MiB", "CPU_Mapped model buffer size =    1.00 MiB"):
        report.take(f"load_tensors: {line}")
    uses = [(use.device, use.weights) for use in report.memory(["Vulkan0", "Vulkan1"])]
    assert uses == [("Vulkan0", 2 << 20), ("Vulkan1", 2 << 20), ("CPU", 1 << 20)]
