"""How far RoPE scaling stretches a context."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol.types import LoadOptions, RopeScaling

CONTEXT_STEP = 256
"""llama.cpp rounds context lengths up to this."""

FARTHEST = 1 << 53
"""Tokens. A factor next to nothing reaches no farther than this."""


@dataclass(frozen=True)
class TrainedContext:
    """What the file says: context in tokens, the one before YaRN stretched it, and the frequency scale."""

    n_ctx: int
    original: int
    freq_scale: float = 1.0


def frequency_scale(options: LoadOptions, trained: TrainedContext) -> float:
    """``rope_freq_scale`` for llama.cpp; 0 keeps the model's.

    Where scaling is asked for without a factor, it stretches as far as the context needs and no farther.
    """
    if options.rope_freq_scale or options.rope_scaling not in (RopeScaling.LINEAR, RopeScaling.YARN):
        return options.rope_freq_scale
    n_ctx = -(-options.n_ctx // CONTEXT_STEP) * CONTEXT_STEP
    start = _start(options, trained)
    return start / n_ctx if n_ctx > max(trained.n_ctx, start) > 0 else 0.0


def reach(options: LoadOptions, trained: TrainedContext) -> int:
    """Tokens that the model can look back over with these options."""
    scale = frequency_scale(options, trained)
    if not scale or options.rope_scaling is RopeScaling.NONE:
        return trained.n_ctx
    return round(min(_start(options, trained) / scale, FARTHEST))


def _start(options: LoadOptions, trained: TrainedContext) -> float:
    """Tokens that a frequency scale of 1 reaches."""
    if options.rope_scaling is RopeScaling.YARN:
        return options.yarn_orig_ctx or trained.original
    return trained.n_ctx * trained.freq_scale
