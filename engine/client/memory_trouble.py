"""What the kernel says of memory when a worker was killed: who ends a process with a signal leaves no other word.

The kernel counts its own kills (``oom_kill`` of ``/proc/vmstat``). Those of earlyoom (SIGTERM first, SIGKILL later) and
systemd-oomd (SIGKILL) are not counted, but they happen under memory pressure, which ``/proc/pressure/memory`` still
shows some seconds later, or with swap used up.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from engine.memory.host import MEMINFO, parse_meminfo
from engine.memory.tree import Tree, sysroot
from engine.memory.values import word_numbers

PRESSED_PERCENT = 5.0
"""Share of the last ten seconds in which some task waited for memory. An easy machine is at 0."""

SWAP_LEFT = 0.1
_SOME = re.compile(r"^some avg10=([0-9]{1,3}\.[0-9]{1,2})\b", re.MULTILINE)


class MemoryState(msgspec.Struct, frozen=True, kw_only=True):
    """Counters at one moment; None: unknown.

    Attributes:
        oom_kills: Processes that the kernel has killed since it started.
        pressure: Percent of the last ten seconds in which some task waited for memory.
        swap_left: Free share of the swap, 0 to 1; None also without swap.
    """

    oom_kills: int | None = None
    pressure: float | None = None
    swap_left: float | None = None


class MemoryTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for and against the system having killed a process; None: unknown."""

    kernel_killed: bool | None = None
    pressed: bool | None = None


def read_memory_state(root: Path | None = None) -> MemoryState:
    """The counters now. Reads three small files of ``/proc``; what is missing is None."""
    tree = Tree(sysroot() if root is None else root)
    ram = parse_meminfo(tree.passing(MEMINFO))
    some = _SOME.search(tree.passing("proc/pressure/memory") or "")
    left = None if not ram.swap_total or ram.swap_free is None else ram.swap_free / ram.swap_total
    return MemoryState(
        oom_kills=word_numbers(tree.passing("proc/vmstat")).get("oom_kill"),
        pressure=float(some[1]) if some else None,
        swap_left=left,
    )


def trouble_between(before: MemoryState | None, after: MemoryState) -> MemoryTrouble:
    """What happened to memory between the start of a process and its end."""
    killed = None
    if before is not None and before.oom_kills is not None and after.oom_kills is not None:
        killed = after.oom_kills > before.oom_kills
    if after.pressure is None and after.swap_left is None:
        return MemoryTrouble(kernel_killed=killed)
    pressed = (after.pressure or 0.0) >= PRESSED_PERCENT or (
        after.swap_left is not None and after.swap_left < SWAP_LEFT
    )
    return MemoryTrouble(kernel_killed=killed, pressed=pressed)
