"""Memory of the host, and a process' part of it."""

from __future__ import annotations

import re

from engine.memory import values
from engine.memory.records import RamMemory, Stall, Zram
from engine.memory.tree import Tree

MEMINFO = "proc/meminfo"
PRESSURE = "proc/pressure/memory"
BLOCK_DEVICES = "sys/block"
ZRAM_FOLDERS_EVERY = 30
"""Zram devices are looked for in every so manieth reading; they hardly ever come and go."""

_MEMINFO = re.compile(r"^(MemTotal|MemAvailable|SwapTotal|SwapFree):[ \t]*([^\n]*?)[ \t\r]*$", re.MULTILINE)
_STATUS = re.compile(r"^(RssAnon|RssFile|RssShmem):[ \t]*([^\n]*?)[ \t\r]*$", re.MULTILINE)
_STALL = re.compile(r"^(some|full)[^\n]*?[ \t]avg10=([0-9]{1,3}(?:\.[0-9]{1,4})?)(?=\s|$)", re.MULTILINE)
_ZRAM = re.compile(r"zram[0-9]+")


def parse_meminfo(text: str | None) -> RamMemory:
    """The figures of ``/proc/meminfo``. Without swap, ``swap_total`` is a true 0."""
    sizes = {key: values.size(value) for key, value in reversed(_MEMINFO.findall(text or ""))}
    total, swap_total = sizes.get("MemTotal") or None, sizes.get("SwapTotal")
    return RamMemory(
        total=total,
        available=_within(sizes.get("MemAvailable"), total),
        swap_total=swap_total,
        swap_free=_within(sizes.get("SwapFree"), swap_total),
    )


def parse_stall(text: str | None) -> Stall | None:
    """The figures of ``/proc/pressure/memory``; None where the kernel does not measure it."""
    found = {key: float(value) for key, value in reversed(_STALL.findall(text or ""))}
    shares = {key: value for key, value in found.items() if value <= 100}
    return Stall(some=shares.get("some"), full=shares.get("full")) if shares else None


def parse_zram(text: str | None) -> Zram | None:
    """One ``mm_stat`` file: bytes put in, bytes after compression, bytes of RAM taken, and others.

    None for a device that is not in use.
    """
    words = (text or "").split()
    if len(words) < 3:
        return None
    stored, taken = values.byte_count(words[0]), values.byte_count(words[2])
    return Zram(stored=stored, taken=taken) if stored or taken else None


def read_ram(tree: Tree) -> RamMemory:
    """The host's memory now, without zram and pressure."""
    return parse_meminfo(tree.text(MEMINFO))


def process_ram(tree: Tree, pid: int) -> tuple[int | None, int | None]:
    """Private memory and mapped file pages of a process, bytes."""
    pairs = dict(reversed(_STATUS.findall((tree.live_bytes(f"proc/{pid}/status") or b"").decode("utf-8", "replace"))))
    private = [values.size(pairs[key]) for key in ("RssAnon", "RssShmem") if key in pairs]
    mapped = values.size(pairs["RssFile"]) if "RssFile" in pairs else None
    known = [part for part in private if part is not None]
    return (sum(known) if known and len(known) == len(private) else None), mapped


class HostReader:
    """Memory of the host, read again and again."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._zrams: list[str] = []
        self._readings = 0

    def read(self) -> RamMemory:
        """Everything that is known now."""
        ram = parse_meminfo(self._tree.live(MEMINFO))
        stall = parse_stall(self._tree.live(PRESSURE)) if self._tree.exists(PRESSURE) else None
        return RamMemory(
            total=ram.total,
            available=ram.available,
            swap_total=ram.swap_total,
            swap_free=ram.swap_free,
            zram=self._zram(),
            stall=stall,
        )

    def _zram(self) -> Zram | None:
        if self._readings % ZRAM_FOLDERS_EVERY == 0:
            self._zrams = [name for name in self._tree.names(BLOCK_DEVICES) if _ZRAM.fullmatch(name)]
        self._readings += 1
        stats = [parse_zram(self._tree.live(f"{BLOCK_DEVICES}/{name}/mm_stat")) for name in self._zrams]
        known = [stat for stat in stats if stat is not None]
        if not known:
            return None
        return Zram(stored=_sum([stat.stored for stat in known]), taken=_sum([stat.taken for stat in known]))


def _sum(parts: list[int | None]) -> int | None:
    """The sum, None when a part is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _within(part: int | None, total: int | None) -> int | None:
    return None if part is not None and total is not None and part > total else part
