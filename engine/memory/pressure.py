"""Is the system running out of memory while a model is loaded? Pure: samples in, a steady verdict out.

Signs are the memory that programs can still get, the time that tasks wait for memory (PSI), and video memory of the
model that was pushed out to system memory. A verdict rises after some seconds and falls only when there is clearly
more room again, so that it does not flicker.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.memory.records import MemorySnapshot, RamMemory, WorkerGpu
from engine.memory.sizes import GIB
from engine.memory.takers import Taker, TakerTrace

MIB = 1 << 20

RESERVE = GIB
"""The last GiB belongs to the compositor and the rest of the desktop; on small machines an eighth of the RAM."""

KILLER_ACTS = 400 * MIB
"""SteamOS's earlyoom (``-M 409600 -S 409600``) ends the largest program when RAM and swap are both below it."""

KILLER_MARGIN = 200 * MIB
RELIEF = 1.5
"""A shortage is over when so many times the reserve is available."""

STALL_SHORT, STALL_FULL, STALL_CRITICAL, STALL_OVER = 20.0, 10.0, 40.0, 5.0
"""Percent of ten seconds in which some tasks waited; in which all did, twice; and what counts as none."""

EVICTED_LEAST, EVICTED_SHARE = 256 * MIB, 0.05
RISE_S = {"short": 3.0, "critical": 1.0}
FALL_S = 15.0
EASE_S = 5.0
GAP_S = 30.0
"""After a pause this long (sleep) all signs have to show again."""


class Level(StrEnum):
    """How short memory is."""

    CALM = "calm"
    SHORT = "short"
    CRITICAL = "critical"


_RANK = {Level.CALM: 0, Level.SHORT: 1, Level.CRITICAL: 2}


class Cause(StrEnum):
    """What tells it."""

    RAM = "ram"
    STALL = "stall"
    EVICTED = "evicted"


class Shortage(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict.

    Attributes:
        near: A sign shows already, so it is worth looking every second.
        available: RAM that programs can still get, bytes.
        evicted: Bytes of the model that were pushed out of video memory, and ``card`` from which.
        held: What the engine holds in all memories: about what comes back when it ends.
    """

    level: Level = Level.CALM
    causes: tuple[Cause, ...] = ()
    near: bool = False
    available: int | None = None
    evicted: int = 0
    card: str = ""
    held: int = 0
    taker: Taker | None = None


def rank(level: Level) -> int:
    """For comparing levels: more is worse."""
    return _RANK[level]


def reserve(ram: RamMemory) -> int:
    """What has to stay available, bytes."""
    return RESERVE if ram.total is None else min(RESERVE, ram.total // 8)


def signs(ram: RamMemory, evicted: int, vram_held: int) -> tuple[Level, tuple[Cause, ...]]:
    """What one sample shows by itself. Unknown figures are no sign.

    Args:
        ram: The host's memory.
        evicted: Bytes of the model outside of video memory that belong into it.
        vram_held: What the model holds in video memory.
    """
    causes, level = [], Level.CALM
    kept = reserve(ram)
    available = ram.available
    if available is not None and available < kept:
        level = Level.CRITICAL if _nearly_killed(ram) else Level.SHORT
        causes.append(Cause.RAM)
    stall = ram.stall
    if stall is not None and (available is None or available < 2 * kept):
        some, full = stall.some or 0.0, stall.full or 0.0
        if some >= STALL_SHORT or full >= STALL_FULL:
            causes.append(Cause.STALL)
            critical = full >= STALL_CRITICAL and available is not None and available < kept
            level = Level.CRITICAL if critical else max(level, Level.SHORT, key=rank)
    if evicted >= max(EVICTED_LEAST, EVICTED_SHARE * (evicted + vram_held)):
        causes.append(Cause.EVICTED)
        level = max(level, Level.SHORT, key=rank)
    return level, tuple(causes)


def relieved(ram: RamMemory, evicted: int) -> bool:
    """Whether there clearly is room again."""
    if ram.available is not None and ram.available < RELIEF * reserve(ram):
        return False
    if ram.stall is not None and max(ram.stall.some or 0.0, ram.stall.full or 0.0) >= STALL_OVER:
        return False
    return evicted < EVICTED_LEAST // 2


def _nearly_killed(ram: RamMemory) -> bool:
    """Both figures that earlyoom looks at are near its limit; unknown swap counts as none."""
    limit = KILLER_ACTS + KILLER_MARGIN
    return (ram.available or 0) < limit and (ram.swap_free or 0) < limit


class PressureMeter:
    """Turns samples, taken while a model is loaded, into a steady `Shortage`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Another model, or none: nothing of before counts."""
        self._level = Level.CALM
        self._since: dict[Level, float] = {}
        self._relieved: float | None = None
        self._eased: float | None = None
        self._last: float | None = None
        self._best: dict[str, WorkerGpu] = {}
        self._takers = TakerTrace()

    def take(self, snapshot: MemorySnapshot) -> Shortage:
        """The verdict after one more sample."""
        now = snapshot.taken
        if self._last is not None and not 0 <= now - self._last <= GAP_S:
            self._since, self._relieved, self._eased = {}, None, None
            self._takers = TakerTrace()
        self._last = now
        worker = snapshot.worker
        lost = {gpu.pci: self._evicted(gpu) for gpu in (worker.gpus if worker else ())}
        evicted = sum(lost.values())
        vram = sum(gpu.vram or 0 for gpu in (worker.gpus if worker else ()))
        level, causes = signs(snapshot.ram, evicted, vram)
        calm_again = relieved(snapshot.ram, evicted)
        self._settle(level, calm_again, now)
        where = max(lost, key=lambda pci: lost[pci], default="")
        card = snapshot.gpu(where)
        return Shortage(
            level=self._level,
            causes=causes,
            near=level is not Level.CALM or not calm_again,
            available=snapshot.ram.available,
            evicted=evicted,
            card=card.name if card is not None and evicted else "",
            held=held(snapshot),
            taker=self._takers.take(snapshot),
        )

    def _settle(self, level: Level, calm_again: bool, now: float) -> None:
        for one in (Level.SHORT, Level.CRITICAL):
            if rank(level) < rank(one):
                self._since.pop(one, None)
            elif now - self._since.setdefault(one, now) >= RISE_S[one.value] and rank(self._level) < rank(one):
                self._level = one
        self._relieved = (now if self._relieved is None else self._relieved) if calm_again else None
        critical = level is Level.CRITICAL
        self._eased = None if critical else now if self._eased is None else self._eased
        if self._level is Level.CRITICAL and self._eased is not None and now - self._eased >= EASE_S:
            self._level = Level.SHORT
        if self._relieved is not None and now - self._relieved >= FALL_S:
            self._level = Level.CALM

    def _evicted(self, gpu: WorkerGpu) -> int:
        """By the kernel's word; without it, what left video memory and came up in system memory at the same time."""
        if gpu.evicted is not None:
            return gpu.evicted
        best = self._best.get(gpu.pci)
        if best is None or (gpu.vram or 0) >= (best.vram or 0):
            self._best[gpu.pci] = gpu
            return 0
        return max(0, min((best.vram or 0) - (gpu.vram or 0), (gpu.gtt or 0) - (best.gtt or 0)))


def held(snapshot: MemorySnapshot) -> int:
    """What the engine's process holds in all memories, without mapped files, which the kernel may drop."""
    worker = snapshot.worker
    if worker is None:
        return 0
    return (worker.ram or 0) + sum((gpu.vram or 0) + (gpu.gtt or 0) for gpu in worker.gpus)
