"""How much a model may take: what is free, less what the desktop must keep.

On an APU the carve-out is no longer part of the RAM, while GTT is: so GTT is bounded by what the host can
still give, and the carve-out is not.
"""

from __future__ import annotations

from engine.memory.records import Pool, RamMemory
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceKind

RAM_RESERVE = 3 * GIB // 2
"""Kept available for everything else on an APU; SteamOS ends the largest program at 0.4 GiB."""

VRAM_RESERVE = GIB
"""Kept free on a card of its own for the compositor, at most an eighth of the card."""


def room(kind: DeviceKind | None, vram: Pool, gtt: Pool, ram: RamMemory) -> int | None:
    """Bytes for a model; None when a figure that decides it is unknown."""
    if kind is DeviceKind.IGPU:
        return _shared(vram, gtt, ram)
    if kind is DeviceKind.GPU and vram.total is not None and vram.free is not None:
        return max(0, vram.free - min(VRAM_RESERVE, vram.total // 8))
    return None


def _shared(vram: Pool, gtt: Pool, ram: RamMemory) -> int | None:
    if vram.free is None or gtt.free is None or ram.available is None:
        return None
    return vram.free + max(0, min(gtt.free, ram.available - RAM_RESERVE))
