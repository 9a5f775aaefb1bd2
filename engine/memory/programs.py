"""Which programs hold the RAM: the private memory of all processes that can be seen, by program.

Looking at each process in each sample would be dear, so a sample looks at a few in turn, and at the largest ones. What
a process has for itself is its resident memory without pages of files and shared ones (``/proc/<pid>/statm``), so
that nothing counts twice; memory that a GPU maps is not among it.
"""

from __future__ import annotations

import os
import re
from collections import deque
from heapq import nlargest
from typing import Final

from engine.memory.records import Program
from engine.memory.tree import Tree
from engine.memory.values import BYTES_LIMIT, printable

EACH_TIME: Final = 8
"""Processes looked at in turn in one sample."""

CATCH_UP: Final = 6
"""So many times more while many were never looked at: when somebody begins to look."""

LARGEST: Final = 4
"""So many of the largest are looked at in every sample."""

NAMES_EACH: Final = 8
"""A process is asked for its name again at the second look (it may have become another program) and at every so
manieth."""

LEAST: Final = 8 << 20
"""Bytes: smaller programs are not told."""

WINDOWS_PROGRAM: Final = ".exe"
_STATM: Final = re.compile(rb"[0-9]{1,15} ([0-9]{1,15}) ([0-9]{1,15})(?: |\n|$)")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


RANKED_EACH: Final = 8
"""The largest are found anew in every so manieth sample."""

_Key = tuple[str, bool]


class _Process:
    """What was learned of one process. ``counted``: the program that it counts for, and its bytes there."""

    __slots__ = ("counted", "exe", "looks", "name", "ours", "private")

    def __init__(self) -> None:
        self.name = ""
        self.exe: str | None = None
        self.ours = False
        self.private = self.looks = 0
        self.counted: tuple[_Key, int] | None = None


class _Sums:
    """Bytes and number of processes of each program; what did not change is not made anew."""

    def __init__(self) -> None:
        self._sums: dict[_Key, list[int]] = {}
        self._made: dict[_Key, Program] = {}
        self._told: tuple[Program, ...] = ()
        self._changed: set[_Key] = set()

    def count(self, process: _Process, private: int) -> None:
        """Let ``process`` count for its program with so many bytes; 0: not at all."""
        key = (process.name, process.ours)
        wanted = (key, private) if private else None
        if wanted == process.counted:
            return
        if process.counted is not None:
            self._add(process.counted[0], -process.counted[1], -1)
        if wanted is not None:
            self._add(key, private, 1)
        process.counted = wanted

    def programs(self) -> tuple[Program, ...]:
        """The largest first."""
        if not self._changed:
            return self._told
        for key in self._changed:
            ram, count = self._sums[key]
            if not count:
                del self._sums[key]
            if ram >= LEAST:
                self._made[key] = Program(name=key[0], ram=ram, processes=count, ours=key[1])
            else:
                self._made.pop(key, None)
        self._changed.clear()
        self._told = tuple(sorted(self._made.values(), key=_rank))
        return self._told

    def _add(self, key: _Key, size: int, count: int) -> None:
        sums = self._sums.setdefault(key, [0, 0])
        sums[0] += size
        sums[1] += count
        self._changed.add(key)


def _rank(program: Program) -> tuple[int, str]:
    return -program.ram, program.name


class ProgramReader:
    """Keeps what it learned between samples.

    Args:
        own: Process id of this program.
    """

    def __init__(self, tree: Tree, own: int) -> None:
        self._tree, self._own = tree, own
        self._present: frozenset[int] = frozenset()
        self._known: dict[int, _Process] = {}
        self._turn: deque[int] = deque()
        self._largest: list[int] = []
        self._unknown = self._readings = 0
        self._worker: int | None = None
        self._sums = _Sums()

    def read(self, present: frozenset[int], worker: int | None, *, whole: bool = False) -> tuple[Program, ...]:
        """Programs by their private memory, the largest first; processes of one program together.

        Args:
            present: Process ids that there are.
            worker: This process is left out: its memory is told apart.
            whole: Look at every process now.
        """
        self._follow(present)
        if worker != self._worker:
            changed, self._worker = (self._worker, worker), worker
            for pid in changed:
                if pid in self._known:
                    self._count(pid, self._known[pid])
        pace = CATCH_UP if self._unknown > 2 * EACH_TIME else 1
        count = len(self._turn) if whole else min(len(self._turn), pace * EACH_TIME)
        looked = set(self._largest)
        for _ in range(count):
            pid = self._turn.popleft()
            self._turn.append(pid)
            looked.add(pid)
        for pid in sorted(looked):
            self._look(pid)
        if whole or self._unknown or self._readings % RANKED_EACH == 0:
            known = self._known
            self._largest = nlargest(LARGEST, known, key=lambda pid: known[pid].private)
        self._readings += 1
        return self._sums.programs()

    def _follow(self, present: frozenset[int]) -> None:
        """Forget the processes that ended and put new ones in front."""
        if present is self._present:
            return
        self._present = present
        gone = self._known.keys() - present
        for pid in gone:
            process = self._known.pop(pid)
            self._unknown -= not process.looks
            self._sums.count(process, 0)
        if gone:
            self._turn = deque(pid for pid in self._turn if pid in present)
            self._largest = [pid for pid in self._largest if pid in present]
        for pid in sorted(present - self._known.keys(), reverse=True):
            self._known[pid] = _Process()
            self._unknown += 1
            self._turn.appendleft(pid)

    def _look(self, pid: int) -> None:
        process = self._known[pid]
        process.private = private_bytes(self._tree.passing_bytes(f"proc/{pid}/statm"))
        if process.private and (process.looks < 2 or process.looks % NAMES_EACH == 0):
            self._name(pid, process)
        self._unknown -= not process.looks
        process.looks += 1
        self._count(pid, process)

    def _count(self, pid: int, process: _Process) -> None:
        self._sums.count(process, 0 if pid == self._worker else process.private)

    def _name(self, pid: int, process: _Process) -> None:
        """Helpers of a program run the same file as it and count with it; programs for Windows all run the same."""
        name, parent = name_and_parent(self._tree.passing(f"proc/{pid}/stat"))
        exe = self._tree.link(f"proc/{pid}/exe")
        above = self._known.get(parent)
        helper = above is not None and exe is not None and exe == above.exe and not name.endswith(WINDOWS_PROGRAM)
        process.exe = exe
        process.ours = pid == self._own or (above is not None and above.ours)
        process.name = above.name if helper and above is not None and above.name else name


def private_bytes(statm: bytes | None) -> int:
    """Resident memory without pages of files and shared ones; 0 for kernel threads and what cannot be right."""
    found = _STATM.match(statm or b"")
    if found is None:
        return 0
    size = (int(found[1]) - int(found[2])) * _PAGE
    return size if 0 <= size < BYTES_LIMIT else 0


def name_and_parent(stat: str | None) -> tuple[str, int]:
    """Name and parent of a process out of ``/proc/<pid>/stat``; the name may hold anything."""
    head, _, tail = (stat or "").rpartition(")")
    words = tail.split()
    parent = int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 11 else 0
    return printable(head.partition("(")[2]), parent
