"""Logits of one place as log probabilities."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from engine.protocol.probe import Candidate, Position

KEPT = 16
"""Tokens that are kept of each place. Beyond them a model that knows what it says puts little probability."""


def position(logits: npt.NDArray[np.float32], read: int, asked: Iterable[int] = ()) -> Position:
    """The likeliest tokens and ``asked`` ones, after ``read`` tokens.

    A logit of minus infinity forbids a token, which some models do; NaN, plus infinity, and nothing but minus infinity
    are no result of a healthy computation.
    """
    best = logits.max(initial=-np.inf)
    if not np.isfinite(best) or np.isnan(logits).any():
        return Position(read=read, finite=False)
    wide = logits.astype(np.float64)
    wide -= float(best) + np.log(np.exp(wide - float(best)).sum())
    count = min(KEPT, len(wide))
    likeliest = np.argpartition(wide, -count)[-count:]
    tokens = {int(token) for token in likeliest} | {token for token in asked if 0 <= token < len(wide)}
    ranked = sorted(tokens, key=lambda token: (-float(wide[token]), token))
    found = (Candidate(token, float(wide[token])) for token in ranked)
    return Position(read=read, best=tuple(item for item in found if np.isfinite(item.logprob)))
