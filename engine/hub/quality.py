"""What a quantisation means: a word on its quality, and its size."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from engine.library.gguf.tables import BLOCKS


class Quality(StrEnum):
    """How near a quantised model is to its original, from the worst."""

    UNKNOWN = "unknown"
    POOR = "poor"
    """Often wrong or confused; only where nothing else fits."""
    LOW = "low"
    """Clearly weaker."""
    FAIR = "fair"
    """Weaker, noticeable in reasoning and code."""
    GOOD = "good"
    """Small loss: the usual choice."""
    VERY_GOOD = "very-good"
    """A loss that is hard to notice."""
    NEAR = "near-original"
    """As good as the original in practice."""
    ORIGINAL = "original"
    """Not quantised."""


WORDS: Final = (
    (("F32", "F16", "BF16"), Quality.ORIGINAL),
    (("Q8",), Quality.NEAR),
    (("Q6", "Q5"), Quality.VERY_GOOD),
    (("Q4", "IQ4", "MXFP4", "NVFP4"), Quality.GOOD),
    (("Q3", "IQ3"), Quality.FAIR),
    (("Q2", "IQ2"), Quality.LOW),
    (("Q1", "IQ1", "TQ"), Quality.POOR),
)
"""Beginnings of labels, in the order of the bits that are left of a weight."""

MIXTURES: Final = {
    "IQ1_S": 2.0, "IQ1_M": 2.15, "IQ2_XXS": 2.38, "IQ2_XS": 2.59, "IQ2_S": 2.74, "IQ2_M": 2.93, "IQ3_XXS": 3.25,
    "IQ3_XS": 3.5, "IQ3_S": 3.66, "IQ3_M": 3.76, "IQ4_XS": 4.46, "IQ4_NL": 4.68, "Q2_K_S": 2.97, "Q2_K": 3.16,
    "Q3_K_S": 3.64, "Q3_K_M": 4.0, "Q3_K_L": 4.3, "Q4_K_S": 4.67, "Q4_K_M": 4.89, "Q5_K_S": 5.57,
    "Q5_K_M": 5.7, "Q6_K": 6.56,
}  # fmt: skip
"""Bits for each weight of mixtures of tensor types, of an 8B model (llama.cpp, tools/quantize/README.md, rounded)."""


def quality_of(quant: str) -> Quality:
    """The word for a label such as ``UD-Q4_K_XL``."""
    plain = _plain(quant)
    for beginnings, word in WORDS:
        if plain.startswith(beginnings):
            return word
    return Quality.UNKNOWN


def bits_of(quant: str) -> float | None:
    """About how many bits a weight takes. A plain tensor type says it exactly."""
    plain = _plain(quant)
    if plain in MIXTURES:
        return MIXTURES[plain]
    for name, weights, n_bytes in BLOCKS.values():
        if plain in (name, f"{name}_MOE"):
            return 8 * n_bytes / weights
    return None


def _plain(quant: str) -> str:
    return quant.upper().removeprefix("UD-")
