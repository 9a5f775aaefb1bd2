"""Memory sizes in words: GiB everywhere, with one decimal."""

from __future__ import annotations

GIB = 1 << 30


def gib_number(size: int) -> str:
    """``size`` bytes in GiB, without the unit; what is little but not nothing is ``<0.1``."""
    return "<0.1" if 0 < size < GIB // 20 else f"{size / GIB:.1f}"
