"""What the kernel says a worker process is doing, for when the worker itself says nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.memory import values
from engine.memory.tree import Tree

READ_BYTES = 64 * 1024
"""Reading so much since the last look is movement; less may be a thread that reads some counter."""

FAULTS = 16
"""Pages of mapped files that came from the drive since the last look: likewise."""

DEAD, STUCK = "Z", "D"
"""States of ``/proc/PID/stat``: a zombie; uninterruptible, inside a driver or a file system."""

_MAJOR_FAULTS = 9
"""Place of ``majflt`` behind the process' name in ``/proc/PID/stat`` (proc_pid_stat(5), field 12)."""


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """One look at a process; None: unknown.

    Attributes:
        read: Bytes that it read so far, by calls or from drives.
        faults: Pages that had to be read from a drive so far.
        state: One letter, such as ``R`` or `STUCK`; None also when there is no such process.
    """

    read: int | None = None
    faults: int | None = None
    state: str | None = None

    def moved_since(self, before: Activity) -> bool:
        """It read from files or drives in between. Unknown is no movement."""
        return _grew(before.read, self.read, READ_BYTES) or _grew(before.faults, self.faults, FAULTS)


def read_activity(pid: int, root: Path = Path("/")) -> Activity:
    """Look at ``/proc/PID/io`` and ``/proc/PID/stat`` below ``root``."""
    tree = Tree(root)
    io = values.colon_pairs(tree.passing(f"proc/{pid}/io"))
    reads = [number for key in ("rchar", "read_bytes") if (number := values.whole(io.get(key))) is not None]
    _, _, rest = (tree.passing(f"proc/{pid}/stat") or "").rpartition(") ")
    fields = rest.split()
    faults = values.whole(fields[_MAJOR_FAULTS]) if len(fields) > _MAJOR_FAULTS else None
    return Activity(read=max(reads, default=None), faults=faults, state=fields[0] if fields else None)


def _grew(before: int | None, now: int | None, least: int) -> bool:
    return before is not None and now is not None and now - before >= least
