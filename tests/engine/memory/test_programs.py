"""Who holds RAM, by program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.programs import CATCH_UP, EACH_TIME, LARGEST, ProgramReader, name_and_parent, private_bytes
from engine.memory.records import Program
from engine.memory.tree import Tree, read_file
from tests.fakes.sysroot import Entry, write

PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
OWN, WORKER = 10, 11


class Machine:
    """A folder with processes, and how often each was looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[str] = []
        self.reader = ProgramReader(Tree(root, self._read), OWN)
        self.pids: frozenset[int] = frozenset()

    def _read(self, path: str) -> bytes:
        self.opened.append(path)
        return read_file(path)

    def put(self, pid: int, name: str, mib: float, *, parent: int = 1, exe: str | None = None, shared: int = 7) -> None:
        pages = int(mib * MIB) // PAGE
        write(self.root, Entry(f"proc/{pid}/statm", f"{pages * 3} {pages + shared} {shared} 1 0 5 0\n"))
        write(self.root, Entry(f"proc/{pid}/stat", f"{pid} ({name}) S {parent} 1 1 0 -1\n"))
        link = self.root / f"proc/{pid}/exe"
        link.unlink(missing_ok=True)
        if exe is not None:
            write(self.root, Entry(f"proc/{pid}/exe", link=exe))
        self.pids |= {pid}

    def remove(self, pid: int) -> None:
        self.pids -= {pid}

    def told(self, *, whole: bool = True) -> dict[str, int]:
        return {p.name: p.ram // MIB for p in self.reader.read(self.pids, WORKER, whole=whole)}

    def looks(self) -> int:
        count = sum(path.endswith("/statm") for path in self.opened)
        self.opened.clear()
        return count


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_private_memory_by_program_the_largest_first(machine: Machine) -> None:
    machine.put(20, "game.exe", 3000)
    machine.put(30, "firefox", 500)
    machine.put(31, "firefox", 100)
    machine.put(40, "tiny", 1)
    machine.put(50, "kthreadd", 0)
    found = machine.reader.read(machine.pids, WORKER, whole=True)
    assert found == (
        Program(name="game.exe", ram=3000 * MIB),
        Program(name="firefox", ram=600 * MIB, processes=2),
    )


def test_helpers_count_with_the_program_whose_file_they_run(machine: Machine) -> None:
    machine.put(20, "firefox", 300, exe="/usr/lib/firefox")
    machine.put(21, "Isolated Web Co", 200, parent=20, exe="/usr/lib/firefox")
    machine.put(22, "Web Content", 100, parent=21, exe="/usr/lib/firefox")
    machine.put(23, "player", 50, parent=20, exe="/usr/bin/player")
    assert machine.told() == {"firefox": 600, "player": 50}


def test_programs_for_windows_all_run_the_same_file_and_stay_apart(machine: Machine) -> None:
    machine.put(20, "services.exe", 20, exe="/wine/preloader")
    machine.put(21, "Game.exe", 900, parent=20, exe="/wine/preloader")
    assert machine.told() == {"Game.exe": 900, "services.exe": 20}


def test_the_engine_is_left_out_and_ours_are_told_apart(machine: Machine) -> None:
    machine.put(OWN, "vramble", 150, exe="/usr/bin/python3")
    machine.put(WORKER, "vramble", 4000, parent=OWN, exe="/usr/bin/python3")
    machine.put(12, "vramble", 40, parent=OWN, exe="/usr/bin/python3")
    machine.put(99, "vramble", 60, exe="/usr/bin/python3")
    found = machine.reader.read(machine.pids, WORKER, whole=True)
    assert found == (
        Program(name="vramble", ram=190 * MIB, processes=2, ours=True),
        Program(name="vramble", ram=60 * MIB),
    )


def test_a_sample_looks_at_few_and_always_at_the_largest(machine: Machine) -> None:
    for pid in range(100, 100 + 20 * EACH_TIME):
        machine.put(pid, f"p{pid}", 9)
    for pid in (900, 901):
        machine.put(pid, f"large{pid}", 700)
    machine.told(whole=False)
    assert machine.looks() == CATCH_UP * EACH_TIME
    machine.told()
    machine.looks()
    for step in range(1, 4):
        machine.put(901, "large901", 700 + 100 * step)
        assert machine.told(whole=False)["large901"] == 700 + 100 * step
        assert machine.looks() <= EACH_TIME + LARGEST


def test_all_are_seen_in_turn_and_the_dead_are_forgotten(machine: Machine) -> None:
    for pid in range(100, 100 + 6 * EACH_TIME):
        machine.put(pid, f"p{pid}", 9)
    machine.told()
    machine.put(110, "p110", 50)
    machine.remove(111)
    for _ in range(8):
        found = machine.told(whole=False)
    assert found["p110"] == 50
    assert "p111" not in found
    assert len(found) == 6 * EACH_TIME - 1


def test_a_process_that_became_another_program_is_called_so(machine: Machine) -> None:
    machine.put(20, "bash", 30)
    assert machine.told() == {"bash": 30}
    machine.put(20, "blender", 30)
    assert machine.told() == {"blender": 30}


def test_a_process_that_ends_while_it_is_looked_at(machine: Machine) -> None:
    machine.put(20, "game", 100)
    machine.pids |= {21}
    assert machine.told() == {"game": 100}


def test_nothing_is_made_anew_while_nothing_changes(machine: Machine) -> None:
    machine.put(20, "game", 100)
    first = machine.reader.read(machine.pids, WORKER, whole=True)
    assert machine.reader.read(machine.pids, WORKER, whole=True) is first


@given(st.binary())
def test_private_bytes_never_fail(data: bytes) -> None:
    assert 0 <= private_bytes(data) < 1 << 50


@pytest.mark.parametrize(
    ("statm", "pages"),
    [
        (b"1000 300 100 1 0 200 0\n", 200),
        (b"0 0 0 0 0 0 0\n", 0),
        (b"1000 100 300 1 0 200 0\n", 0),
        (b"1000 999999999999999 0\n", 0),
        (b"", 0),
        (b"x y z", 0),
    ],
)
def test_private_bytes(statm: bytes, pages: int) -> None:
    assert private_bytes(statm) == pages * PAGE


@given(st.text(), st.integers(0, 2**31))
def test_names_may_hold_anything(name: str, parent: int) -> None:
    found, above = name_and_parent(f"7 ({name}) S {parent} 7 7 0")
    assert above == parent
    assert all(letter.isprintable() for letter in found)


@given(st.text())
def test_no_stat_makes_it_fail(text: str) -> None:
    name, parent = name_and_parent(text)
    assert isinstance(name, str)
    assert parent >= 0
