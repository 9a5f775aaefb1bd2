"""What a dry run said, and what it is worth for other options."""

from __future__ import annotations

from typing import Final

import msgspec

from engine.protocol.types import LoadOptions

_WITHOUT_EFFECT: Final = {
    "n_threads": 0,
    "mmap": None,
    "lora": (),
    "rope_freq_base": 0.0,
    "rope_freq_scale": 0.0,
    "yarn_orig_ctx": 0,
} | {"yarn_ext_factor": None, "yarn_attn_factor": None, "yarn_beta_fast": None, "yarn_beta_slow": None}
"""Options that change no buffer -> a value that stands for all."""

_FACTORS: Final = (0.25, 4.0)
"""The formula is corrected at most by these."""


def buffer_options(options: LoadOptions) -> LoadOptions:
    """``options`` with what makes no difference to memory left out."""
    return msgspec.structs.replace(options, **_WITHOUT_EFFECT)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Buffers that llama.cpp named for ``options``, in bytes by device id, and what the formula gave for the same."""

    options: LoadOptions
    compute: dict[str, int]
    formula: dict[str, int]

    def is_for(self, options: LoadOptions) -> bool:
        """Whether the figures are for exactly these options."""
        return buffer_options(options) == buffer_options(self.options)

    def scaled(self, device: str, options: LoadOptions, formula: int) -> int:
        """The compute buffer on ``device``: as measured, or the ``formula`` for other options corrected by it."""
        measured = self.compute.get(device)
        if self.is_for(options):
            return measured or 0
        expected = self.formula.get(device)
        if not measured or not expected:
            return formula
        low, high = _FACTORS
        return round(formula * min(high, max(low, measured / expected)))
