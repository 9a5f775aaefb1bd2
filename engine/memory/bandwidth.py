"""How fast the memory of a card is: by the kernel's clock and width, else by its name from vendors' figures."""

from __future__ import annotations

import re
from typing import Final

_GB_PER_SECOND: Final = {
    "Custom GPU 0405": 88,
    "Custom GPU 0932": 102,
    "Steam Deck OLED": 102,
    "Steam Deck": 88,
    "780M": 102,
    "760M": 102,
    "740M": 102,
    "680M": 77,
    "890M": 120,
    "880M": 120,
    "860M": 120,
    "840M": 120,
    "8060S": 256,
    "8050S": 256,
    "8040S": 256,
    "RX 580": 256,
    "RX 5700 XT": 448,
    "RX 6600": 224,
    "RX 6600 XT": 256,
    "RX 6650 XT": 280,
    "RX 6700": 320,
    "RX 6700 XT": 384,
    "RX 6750 XT": 432,
    "RX 6800": 512,
    "RX 6800 XT": 512,
    "RX 6900 XT": 512,
    "RX 6950 XT": 576,
    "RX 7600": 288,
    "RX 7600 XT": 288,
    "RX 7700 XT": 432,
    "RX 7800 XT": 624,
    "RX 7900 GRE": 576,
    "RX 7900 XT": 800,
    "RX 7900 XTX": 960,
    "RX 9060 XT": 320,
    "RX 9070 GRE": 432,
    "RX 9070": 644,
    "RX 9070 XT": 644,
    "R9700": 644,
    "Vega 56": 410,
    "Vega 64": 484,
    "Radeon VII": 1024,
    "H200": 4800,
}
"""GB/s by what stands in the name. Where the kernel's formula (clock, width) could be checked it agrees."""

_LONGEST_FIRST: Final = sorted(_GB_PER_SECOND, key=len, reverse=True)
_NAMES: Final = re.compile(rf"\b({'|'.join(re.escape(name) for name in _LONGEST_FIRST)})\b", re.IGNORECASE)
_BY_LOWER: Final = {name.lower(): speed * 1e9 for name, speed in _GB_PER_SECOND.items()}


_LEAST, _MOST = 5e9, 2e13
"""Bytes a second; what lies outside is no memory of a graphics card."""

_HBM = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942")
_TRANSFERS_GDDR6, _TRANSFERS_GDDR5, _TRANSFERS_HBM = 16, 4, 2


def kernel_bandwidth(width_bits: int, max_mhz: int, gfx: str | None, *, shared: bool) -> float | None:
    """Bytes a second from width and highest clock of a KFD memory bank; None when that cannot be right.

    The clock is that of the memory controller: a card of its own moves 16 (GDDR6), 4 (GDDR5, up to gfx8) or 2 (HBM)
    bits a line in each of its cycles, as the kernel's amdgpu documentation gives it; for an APU width times clock
    already are MB/s.
    """
    factor = 8 if shared else _TRANSFERS_HBM if gfx in _HBM else _transfers(gfx)
    found = width_bits * max_mhz * 1e6 * factor / 8
    return found if _LEAST <= found <= _MOST else None


def _transfers(gfx: str | None) -> int:
    return _TRANSFERS_GDDR5 if gfx is not None and re.fullmatch("gfx[78][0-9a-f]{2}", gfx) else _TRANSFERS_GDDR6


def bandwidth_of(name: str) -> float | None:
    """Bytes a second, None for cards that are not known or whose name means several."""
    found = {match.lower() for match in _NAMES.findall(name)}
    return _BY_LOWER[found.pop()] if len(found) == 1 else None
