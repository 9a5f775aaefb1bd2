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


class _Process:
    """What was learned of one process."""

    __slots__ = ("exe", "looks", "name", "ours", "private")

    def __init__(self) -> None:
        self.name = ""
        self.exe: str | None = None
        self.ours = False
        self.private = self.looks = 0


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
        self._unknown = 0
        self._worker: int | None = None
        self._told: tuple[Program, ...] = ()
        self._changed = False

    def read(self, present: frozenset[int], worker: int | None, *, whole: bool = False) -> tuple[Program, ...]:
        """Programs by their private memory, the largest first; processes of one program together.

        Args:
            present: Process ids that there are.
            worker: This process is left out: its memory is told apart.
            whole: Look at every process now.
        """
        if worker != self._worker:
            self._worker, self._changed = worker, True
        self._follow(present)
        pace = CATCH_UP if self._unknown > 2 * EACH_TIME else 1
        count = len(self._turn) if whole else min(len(self._turn), pace * EACH_TIME)
        looked = set(self._largest)
        for _ in range(count):
            pid = self._turn.popleft()
            self._turn.append(pid)
            looked.add(pid)
        for pid in sorted(looked):
            self._look(pid)
        if self._changed:
            self._told, self._changed = self._sums(), False
        return self._told

    def _follow(self, present: frozenset[int]) -> None:
        """Forget the processes that ended and put new ones in front."""
        if present is self._present:
            return
        self._present = present
        gone = self._known.keys() - present
        for pid in gone:
            self._unknown -= not self._known.pop(pid).looks
        if gone:
            self._changed = True
            self._turn = deque(pid for pid in self._turn if pid in present)
            self._largest = [pid for pid in self._largest if pid in present]
        for pid in sorted(present - self._known.keys(), reverse=True):
            self._known[pid] = _Process()
            self._unknown += 1
            self._turn.appendleft(pid)

    def _look(self, pid: int) -> None:
        process = self._known[pid]
        private = private_bytes(self._tree.passing_bytes(f"proc/{pid}/statm"))
        if private and (process.looks < 2 or process.looks % NAMES_EACH == 0):
            self._name(pid, process)
        self._unknown -= not process.looks
        process.looks += 1
        if private != process.private:
            process.private = private
            self._changed = True

    def _name(self, pid: int, process: _Process) -> None:
        """Helpers of a program run the same file as it and count with it; programs for Windows all run the same."""
        name, parent = name_and_parent(self._tree.passing(f"proc/{pid}/stat"))
        exe = self._tree.link(f"proc/{pid}/exe")
        above = self._known.get(parent)
        helper = above is not None and exe is not None and exe == above.exe and not name.endswith(WINDOWS_PROGRAM)
        process.exe = exe
        process.ours = pid == self._own or (above is not None and above.ours and parent != self._worker)
        named = above.name if helper and above is not None and above.name else name
        if named != process.name:
            process.name, self._changed = named, True

    def _sums(self) -> tuple[Program, ...]:
        sums: dict[tuple[str, bool], list[int]] = {}
        others = [(pid, process) for pid, process in self._known.items() if process.private and pid != self._worker]
        for _, process in others:
            entry = sums.setdefault((process.name, process.ours), [0, 0])
            entry[0] += process.private
            entry[1] += 1
        self._largest = [pid for pid, _ in nlargest(LARGEST, others, key=lambda pair: pair[1].private)]
        found = [
            Program(name=name, ram=ram, processes=count, ours=ours)
            for (name, ours), (ram, count) in sums.items()
            if ram >= LEAST
        ]
        return tuple(sorted(found, key=lambda program: (-program.ram, program.name)))


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
