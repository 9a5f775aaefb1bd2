"""Figures that others published, to stand beside one's own, with source and conditions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from engine.bench.records import Published

ASSET: Final = Path(__file__).resolve().parents[2] / "assets" / "bench" / "published.json"

FOR_ORIENTATION: Final = ("RX 7900 XTX", "Radeon 8060S", "Steam Deck")
"""Cards that are shown where nothing is known of the own one: a fast, a large and a small one."""

MOST: Final = 8


class _File(msgspec.Struct):
    figures: tuple[Published, ...]


def read_published(path: Path = ASSET) -> tuple[Published, ...]:
    """All of them; none when the file is not there or damaged: they are an extra."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File).figures
    except (OSError, msgspec.DecodeError):
        return ()


def beside(figures: Sequence[Published], names: Sequence[str], backends: Sequence[str]) -> tuple[Published, ...]:
    """Those of the cards called ``names``, figures through the same backends first; else some for orientation."""
    own = [figure for figure in figures if any(re.search(figure.match, name, re.IGNORECASE) for name in names)]
    if own:
        return tuple(sorted(own, key=lambda figure: figure.backend not in backends)[:MOST])
    chosen = [
        next((figure for figure in figures if figure.card == card and figure.backend == "Vulkan"), None)
        for card in FOR_ORIENTATION
    ]
    return tuple(figure for figure in chosen if figure is not None)
