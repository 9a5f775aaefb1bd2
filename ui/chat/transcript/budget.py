"""How long one portion of work may take on the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

Tired = Callable[[], bool]
"""Asked between steps: whether to stop for now."""


def deadline(seconds: float) -> Tired:
    """Tired ``seconds`` from now."""
    end = perf_counter() + seconds
    return lambda: perf_counter() > end


def never() -> bool:
    """For work that is known to be small."""
    return False
