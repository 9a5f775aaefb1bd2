"""Did the memory of a process come back after its end? Pure: two samples are compared."""

from __future__ import annotations

import msgspec

from engine.memory.records import GpuMemory, MemorySnapshot, ProcessMemory

LEAST_BYTES = 256 << 20
"""A smaller share of the worker is not looked for: desktops move so much between two samples."""

SHARE = 0.7
"""So much of what the worker held has to be unexplained for a word."""


class Unfreed(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one card that stays taken though its holder is gone.

    Attributes:
        size: Bytes that nobody explains.
        holders: Who else holds memory on the card now, largest first.
    """

    pci: str
    card: str
    size: int
    holders: tuple[ProcessMemory, ...] = ()


def unfreed(before: MemorySnapshot, after: MemorySnapshot) -> tuple[Unfreed, ...]:
    """The cards on which the worker's memory did not come back.

    Args:
        before: With the worker's share, the last one before its end.
        after: Some seconds after its end.

    Returns:
        Nothing for cards whose figures are not known in both samples, and for those where other programs took what
        came free: what they gained is taken off.
    """
    worker = before.worker
    if worker is None:
        return ()
    found = []
    for share in worker.gpus:
        old, new = before.gpu(share.pci), after.gpu(share.pci)
        held = (share.vram or 0) + (share.gtt or 0)
        if old is None or new is None or held < LEAST_BYTES:
            continue
        was, now = _used(old), _used(new)
        if was is None or now is None:
            continue
        gained = max(0, _held_by_others(new, worker.pid) - _held_by_others(old, worker.pid))
        left = now - (was - held) - gained
        if left >= SHARE * held:
            found.append(Unfreed(pci=new.pci, card=new.name, size=min(left, held), holders=new.processes))
    return tuple(found)


def _used(gpu: GpuMemory) -> int | None:
    """Video memory and system memory that the card holds, together; None when neither figure is known."""
    known = [pool.used for pool in (gpu.vram, gpu.gtt) if pool.used is not None]
    return sum(known) if known else None


def _held_by_others(gpu: GpuMemory, worker: int) -> int:
    return sum((p.vram or 0) + (p.gtt or 0) for p in gpu.processes if p.pid != worker)
