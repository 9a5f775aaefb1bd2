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
from engine.memory.values import printable

EXAMINED_EACH_TIME = 4
LINKS_EACH_TIME = 120
"""So many open files are followed in one sample, then the next process has to wait for the next sample."""

CATCH_UP = 6
"""So many times more in one sample while many processes were never examined: when somebody begins to look."""

YOUNG_LOOKS = 3
"""A process is young until it was examined so often; young ones come again after `YOUNG_PAUSE` others."""

YOUNG_PAUSE = 8
WORKER_LOOKS = 10
"""The worker's open files are looked through in every tenth sample; what it holds is read in each."""

WHOLE_LOOKS = 4
"""Every so manieth look at a process follows all its files, also when their numbers are the same as before."""

LISTED_AT_LEAST = 10
LOADAVG = "proc/loadavg"
DEVICE_FOLDER = "/dev/dri/"


class Holder(msgspec.Struct, frozen=True):
    """One process and its DRM clients."""

    pid: int
    name: str
    clients: tuple[DrmUse, ...]


class _DrmFile:
    """An open file that belongs to a DRM client, with what it said last."""

    __slots__ = ("head", "path", "use")

    def __init__(self, path: str, use: DrmUse) -> None:
        self.path, self.use = path, use
        self.head = b""


class ProcessScanner:
    """Finds the holders; keeps what it learned between samples.

    Attributes:
        pids: All processes; another set only when there are others.
    """

    def __init__(self, tree: Tree, examined_each_time: int = EXAMINED_EACH_TIME) -> None:
        self._tree = tree
        self._examined_each_time = examined_each_time
        self._turn: deque[int] = deque()
        self._looks: dict[int, int] = {}
        self._present: list[str] = []
        self._unknown = 0
        self._numbers: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._files: dict[int, list[_DrmFile]] = {}
        self._changed: set[int] = set()
        self._scans = 0
        self._youngest: str | None = None
        self._listed = 0
        self.pids: frozenset[int] = frozenset()

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
        if whole or self._processes_changed():
            self._follow(self._tree.listing("proc"))
        pace = CATCH_UP if self._unknown > 2 * self._examined_each_time else 1
        count = len(self._turn) if whole else pace * self._examined_each_time
        self._take_turns(count, None if whole else pace * LINKS_EACH_TIME)
        if worker in self._looks and (worker not in self._files or self._scans % WORKER_LOOKS == 0):
            self._changed.add(worker)
        for pid in self._changed & self._looks.keys():
            self._examine(pid)
        self._changed.clear()
        self._scans += 1

    def _processes_changed(self) -> bool:
        """Whether a process was started since the last listing, by the last id that the kernel gave away."""
        self._listed += 1
        words = (self._tree.live_bytes(LOADAVG) or b"").decode("ascii", "replace").split()
        youngest = words[-1] if words else None
        if youngest is not None and youngest == self._youngest and self._listed < LISTED_AT_LEAST:
            return False
        self._youngest, self._listed = youngest, 0
        return True

    def _take_turns(self, count: int, most_links: int | None) -> None:
        links = 0
        waiting = deque(self._turn.popleft() for _ in range(min(count, len(self._turn))))
        while waiting and (most_links is None or links < most_links):
            pid = waiting.popleft()
            links += self._examine(pid)
            self._unknown -= not self._looks[pid]
            self._looks[pid] += 1
            young = self._looks[pid] < YOUNG_LOOKS and len(self._turn) > YOUNG_PAUSE
            self._turn.insert(YOUNG_PAUSE, pid) if young else self._turn.append(pid)
        self._turn.extendleft(reversed(waiting))

    def _follow(self, names: list[str]) -> None:
        """Forget the processes that ended and put new ones in front."""
        if names == self._present:
            return
        self._present = names
        self.pids = present = frozenset(int(name) for name in names if name.isdecimal())
        gone = self._looks.keys() - present
        for pid in gone:
            self._unknown -= not self._looks.pop(pid)
            self._forget(pid)
            self._numbers.pop(pid, None)
        if gone:
            self._turn = deque(pid for pid in self._turn if pid in present)
        for pid in sorted(present - self._looks.keys()):
            self._looks[pid] = 0
            self._unknown += 1
            self._turn.appendleft(pid)

    def _forget(self, pid: int) -> None:
        for file in self._files.pop(pid, ()):
            self._tree.release(file.path)
        self._names.pop(pid, None)

    def _examine(self, pid: int) -> int:
        """Find the DRM files of one process, one for each client. Returns how many open files it followed."""
        folder = f"proc/{pid}"
        numbers = self._tree.listing(f"{folder}/fd")
        same = hash(tuple(numbers))
        if same == self._numbers.get(pid) and pid not in self._changed and self._looks[pid] % WHOLE_LOOKS:
            return 0
        self._numbers[pid] = same
        links = ((number, self._tree.link(f"{folder}/fd/{number}")) for number in numbers)
        found = [number for number, target in links if target is not None and target.startswith(DEVICE_FOLDER)]
        files: dict[tuple[str, str], _DrmFile] = {}
        for number in sorted(found):
            path = f"{folder}/fdinfo/{number}"
            use = fdinfo.parse(self._tree.passing(path))
            if use is not None:
                files.setdefault(use.key, _DrmFile(path, use))
        if files:
            self._files[pid] = list(files.values())
            self._names[pid] = printable(self._tree.passing(f"{folder}/comm"))
        else:
            self._forget(pid)
        return len(numbers)

    def _read(self, pid: int) -> list[DrmUse]:
        uses = []
        for file in self._files[pid]:
            data = self._tree.live_bytes(file.path)
            if data is None:
                self._changed.add(pid)
                continue
            head = fdinfo.memory_part(data)
            if head != file.head:
                use = fdinfo.parse(head.decode("utf-8", "replace"))
                if use is None or use.key != file.use.key:
                    self._changed.add(pid)
                    continue
                file.head, file.use = head, use
            uses.append(file.use)
        return uses
