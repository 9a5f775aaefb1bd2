"""Who holds GPU memory: the DRM files of all processes that we may look into (same user).

Looking through all open files of all processes is dear, so a sample only reads the files already known to be
DRM files and examines a few more processes in turn: new ones first, and these again soon, because a program
opens the graphics card a moment after its start.
"""

from __future__ import annotations

from collections import deque

import msgspec

from engine.memory import fdinfo
from engine.memory.fdinfo import DrmUse
from engine.memory.tree import Tree

EXAMINED_EACH_TIME = 4
YOUNG_LOOKS = 3
"""A process is young until it was examined so often; young ones come again after `YOUNG_PAUSE` others."""

YOUNG_PAUSE = 8
WORKER_LOOKS = 10
"""The worker's open files are looked through in every tenth sample; what it holds is read in each."""

DEVICE_FOLDER = "/dev/dri/"


class Holder(msgspec.Struct, frozen=True):
    """One process and its DRM clients."""

    pid: int
    name: str
    clients: tuple[DrmUse, ...]


class ProcessScanner:
    """Finds the holders; keeps what it learned between samples."""

    def __init__(self, tree: Tree, examined_each_time: int = EXAMINED_EACH_TIME) -> None:
        self._tree = tree
        self._examined_each_time = examined_each_time
        self._turn: deque[int] = deque()
        self._looks: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._files: dict[int, dict[tuple[str, str], str]] = {}
        self._changed: set[int] = set()
        self._scans = 0

    def scan(self, worker: int | None = None, *, whole: bool = False) -> list[Holder]:
        """Holders by process id, the worker first; each client belongs to the first that has it.

        Args:
            worker: This process is examined at once and more often.
            whole: Examine every process now.
        """
        self._examine_some(worker, whole)
        order = sorted(self._files, key=lambda pid: (pid != worker, pid))
        taken: set[tuple[str, str]] = set()
        holders = []
        for pid in order:
            clients = tuple(use for use in self._read(pid) if use.key not in taken)
            taken.update(use.key for use in clients)
            if clients:
                holders.append(Holder(pid, self._names.get(pid, ""), clients))
        return holders

    def _examine_some(self, worker: int | None, whole: bool) -> None:
        self._follow({int(name) for name in self._tree.names("proc") if name.isdecimal()})
        count = len(self._turn) if whole else min(self._examined_each_time, len(self._turn))
        for pid in [self._turn.popleft() for _ in range(count)]:
            self._examine(pid)
            self._looks[pid] += 1
            young = self._looks[pid] < YOUNG_LOOKS and len(self._turn) > YOUNG_PAUSE
            self._turn.insert(YOUNG_PAUSE, pid) if young else self._turn.append(pid)
        if worker in self._looks and (worker not in self._files or self._scans % WORKER_LOOKS == 0):
            self._changed.add(worker)
        for pid in self._changed & self._looks.keys():
            self._examine(pid)
        self._changed.clear()
        self._scans += 1

    def _follow(self, present: set[int]) -> None:
        """Forget the processes that ended and put new ones in front."""
        gone = self._looks.keys() - present
        for pid in gone:
            del self._looks[pid]
            self._files.pop(pid, None)
            self._names.pop(pid, None)
        if gone:
            self._turn = deque(pid for pid in self._turn if pid in present)
        for pid in sorted(present - self._looks.keys()):
            self._looks[pid] = 0
            self._turn.appendleft(pid)

    def _examine(self, pid: int) -> None:
        """Find the DRM files of one process; of several files of one client, one is kept."""
        folder = f"proc/{pid}"
        files: dict[tuple[str, str], str] = {}
        for number in self._tree.names(f"{folder}/fd"):
            target = self._tree.link(f"{folder}/fd/{number}")
            if target is None or not target.startswith(DEVICE_FOLDER):
                continue
            use = fdinfo.parse(self._tree.passing(f"{folder}/fdinfo/{number}"))
            if use is not None:
                files.setdefault(use.key, number)
        if files:
            self._files[pid] = files
            self._names[pid] = _printable(self._tree.passing(f"{folder}/comm"))
        else:
            self._files.pop(pid, None)

    def _read(self, pid: int) -> list[DrmUse]:
        uses = []
        for key, number in self._files[pid].items():
            use = fdinfo.parse(self._tree.passing(f"proc/{pid}/fdinfo/{number}"))
            if use is not None and use.key == key:
                uses.append(use)
            else:
                self._changed.add(pid)
        return uses


def _printable(comm: str | None) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in (comm or "").strip("\n"))
