"""Memory of the host, and a process' part of it."""

from __future__ import annotations

from engine.memory import values
from engine.memory.records import RamMemory
from engine.memory.tree import Tree

MEMINFO = "proc/meminfo"


def parse_meminfo(text: str | None) -> RamMemory:
    """The figures of ``/proc/meminfo``. Without swap, ``swap_total`` is a true 0."""
    pairs = values.colon_pairs(text)
    sizes = {key: values.size(value) for key, value in pairs.items()}
    total, swap_total = sizes.get("MemTotal") or None, sizes.get("SwapTotal")
    return RamMemory(
        total=total,
        available=_within(sizes.get("MemAvailable"), total),
        swap_total=swap_total,
        swap_free=_within(sizes.get("SwapFree"), swap_total),
    )


def read_ram(tree: Tree) -> RamMemory:
    """The host's memory now."""
    return parse_meminfo(tree.text(MEMINFO))


def process_ram(tree: Tree, pid: int) -> tuple[int | None, int | None]:
    """Private memory and mapped file pages of a process, bytes."""
    pairs = values.colon_pairs(tree.passing(f"proc/{pid}/status"))
    private = [values.size(pairs[key]) for key in ("RssAnon", "RssShmem") if key in pairs]
    mapped = values.size(pairs["RssFile"]) if "RssFile" in pairs else None
    known = [part for part in private if part is not None]
    return (sum(known) if known and len(known) == len(private) else None), mapped


def _within(part: int | None, total: int | None) -> int | None:
    return None if part is not None and total is not None and part > total else part
