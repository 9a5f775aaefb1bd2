"""Who killed the worker: the kernel's counters before and after, from recorded texts."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from engine.client.death import describe_death
from engine.client.memory_trouble import MemoryState, MemoryTrouble, read_memory_state, trouble_between

MEMINFO = (
    "MemTotal:       15130000 kB\nMemFree:          90000 kB\nMemAvailable:    380000 kB\n"
    "SwapTotal:       8000000 kB\nSwapFree:         400000 kB\n"
)
PRESSURE = "some avg10=41.27 avg60=20.11 avg300=6.90 total=123\nfull avg10=33.00 avg60=15.00 avg300=5.00 total=99\n"
QUIET = MemoryState(oom_kills=2, pressure=0.0, swap_left=0.9)


def machine(root: Path, **files: str) -> MemoryState:
    (root / "proc" / "pressure").mkdir(parents=True)
    for name, text in files.items():
        (root / "proc" / name.replace("pressure_", "pressure/")).write_text(text)
    return read_memory_state(root)


def test_a_deck_at_its_end(tmp_path: Path) -> None:
    vmstat = "pgmajfault 900\noom_kill 3\nzone_reclaim_success 0\n"
    state = machine(tmp_path, meminfo=MEMINFO, pressure_memory=PRESSURE, vmstat=vmstat)
    assert state == MemoryState(oom_kills=3, pressure=41.27, swap_left=0.05)


def test_a_kernel_without_any_of_it(tmp_path: Path) -> None:
    assert machine(tmp_path) == MemoryState()


def test_a_machine_without_swap(tmp_path: Path) -> None:
    assert machine(tmp_path, meminfo="MemTotal: 100 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n").swap_left is None


def test_nonsense_is_unknown(tmp_path: Path) -> None:
    assert machine(tmp_path, meminfo="\0", pressure_memory="some avg10=nan", vmstat="oom_kill -1") == MemoryState()


@pytest.mark.parametrize(
    ("before", "after", "trouble"),
    [
        (QUIET, MemoryState(oom_kills=3), MemoryTrouble(kernel_killed=True)),
        (QUIET, QUIET, MemoryTrouble(kernel_killed=False, pressed=False)),
        (QUIET, MemoryState(oom_kills=2, pressure=30.0), MemoryTrouble(kernel_killed=False, pressed=True)),
        (None, MemoryState(oom_kills=2, swap_left=0.02), MemoryTrouble(pressed=True)),
        (None, MemoryState(), MemoryTrouble()),
    ],
)
def test_what_happened(before: MemoryState | None, after: MemoryState, trouble: MemoryTrouble) -> None:
    assert trouble_between(before, after) == trouble


@pytest.mark.parametrize(
    ("number", "trouble", "code", "words"),
    [
        (signal.SIGKILL, None, "killed", "most likely by the system because memory ran out"),
        (signal.SIGKILL, MemoryTrouble(kernel_killed=True), "killed", "The system ended the engine"),
        (signal.SIGTERM, MemoryTrouble(kernel_killed=False, pressed=True), "killed", "to save itself"),
        (signal.SIGKILL, MemoryTrouble(kernel_killed=False, pressed=True), "killed", "to save itself"),
        (
            signal.SIGKILL,
            MemoryTrouble(kernel_killed=False, pressed=False),
            "killed",
            "does not seem to have been short",
        ),
        (signal.SIGKILL, MemoryTrouble(kernel_killed=False), "killed", "most likely"),
        (signal.SIGTERM, MemoryTrouble(kernel_killed=False, pressed=False), "worker-ended", "from outside (SIGTERM)"),
        (signal.SIGSEGV, MemoryTrouble(kernel_killed=True, pressed=True), "worker-crashed", "crashed"),
    ],
)
def test_words(number: int, trouble: MemoryTrouble | None, code: str, words: str) -> None:
    death = describe_death(None, number, "", trouble=trouble)
    assert death.code == code
    assert words in death.sentence


def test_a_shell_in_between_changes_nothing() -> None:
    assert describe_death(143, None, "", trouble=MemoryTrouble(pressed=True)).code == "killed"
