"""What a dry run said, and what it is worth for other options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.memory.fit.placement import lay_out
from engine.memory.fit.records import FitDevice, FitModel
from engine.memory.fit.sizes import buffer_bytes, cache_bytes
from engine.protocol.frames import DryRan
from engine.protocol.types import LoadOptions

_FACTORS: Final = (0.25, 4.0)
"""The formula is corrected at most by these."""


def buffer_options(options: LoadOptions) -> LoadOptions:
    """``options`` with what makes no difference to memory left out."""
    return msgspec.structs.replace(
        options,
        n_threads=0,
        mmap=None,
        lora=(),
        mmproj=None,
        draft=None,
        draft_gpu_layers=-1,
        ngram=bool(options.draft or options.ngram),
        n_draft_min=1,
        draft_p_min=0.0,
        rope_freq_base=0.0,
        rope_freq_scale=0.0,
        yarn_orig_ctx=0,
        yarn_ext_factor=None,
        yarn_attn_factor=None,
        yarn_beta_fast=None,
        yarn_beta_slow=None,
    )


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Buffers that llama.cpp named for ``options``, and what the formulas gave for the same.

    Attributes:
        compute: Bytes by device id.
        formula: The same by the formula.
        caches: All caches together as a multiple of what was computed from the header.
    """

    options: LoadOptions
    compute: dict[str, int]
    formula: dict[str, int]
    caches: float = 1.0

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


def measured_by(model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], ran: DryRan) -> Measured:
    """What a dry run of ``model`` with ``options`` says."""
    layout = lay_out(model, options, devices)
    computed = sum(cache_bytes(model, options, layout))
    formula = zip(layout.devices, buffer_bytes(model, options, layout), strict=True)
    return Measured(
        options=options,
        compute={use.device: use.compute for use in ran.memory},
        formula={device.info.id: size for device, size in formula},
        caches=ran.caches / computed if ran.caches and computed else 1.0,
    )
