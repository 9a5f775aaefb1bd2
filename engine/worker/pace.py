"""How much of a prompt one native call takes, so that a cancel is heard in time."""

from __future__ import annotations

from typing import Final

SLICE_SECONDS: Final = 0.6
"""Aimed at for one slice. A cancel that is not answered in 2 s ends the worker, and costs loading the model again."""

FIRST_SLICE: Final = 32
"""Tokens, before anything is known of the device's speed."""

GROWTH: Final = 16
"""A slice is at most this many times the last one: small ones say little of what a large one takes."""


class Pace:
    """Sizes of prompt slices for one loaded model.

    The CPU backend polls the cancel flag while it computes, so its slices are as large as they may be. No other
    backend does: there a cancel is heard between two slices only, and a slice that is right for a desktop card takes
    half a minute on a slow integrated GPU.

    Args:
        limit: Most tokens for one call.
        polled: Native code itself looks at the cancel flag.
    """

    def __init__(self, limit: int, *, polled: bool) -> None:
        self._limit = limit
        self._polled = polled
        self._next = limit if polled else min(FIRST_SLICE, limit)

    @property
    def tokens(self) -> int:
        """Tokens of the next slice."""
        return self._next

    def took(self, tokens: int, seconds: float) -> None:
        """A slice of ``tokens`` was computed in ``seconds``."""
        if self._polled or tokens < min(self._next, FIRST_SLICE):
            return
        fitting = int(tokens * SLICE_SECONDS / seconds) if seconds > 0 else self._limit
        self._next = max(1, min(_even(fitting), GROWTH * max(tokens, FIRST_SLICE), self._limit))


def _even(tokens: int) -> int:
    """Down to a whole number of 32: matrix kernels work in tiles of that size."""
    return tokens - tokens % 32 if tokens >= 32 else tokens
