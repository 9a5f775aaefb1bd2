"""Guessing from what stands in the conversation already: code that is changed, a text that is summed up or corrected.

The last tokens are looked for further up, and what followed there is the guess (prompt lookup decoding, Saxena 2023,
https://github.com/apoorvumang/prompt-lookup-decoding). Each token is put into a table once, so a guess costs the same
however long the conversation is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.worker.cancel import Stop

SIZES: Final = (4, 3)
"""Lengths of the runs of tokens that are looked for, the longest first. Pairs are found everywhere in prose and mean
nothing."""

LOOK_BACK: Final = 65_536
"""Tokens at the end of the conversation that are put into the table."""


class Lookup:
    """A drafter without a model."""

    def __init__(self) -> None:
        self._followers: dict[tuple[int, ...], int] = {}
        self._seen = 0

    def forget(self) -> None:
        """Empty the table; it is filled again with the next guess."""
        self._followers.clear()
        self._seen = 0

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        """What followed the last place that reads like the end. Text that repeats itself is guessed to go on so."""
        self._learn(tokens)
        tail = (*tokens[1 - SIZES[0] :], last)
        for size in SIZES:
            place = self._followers.get(tail[-size:]) if len(tail) >= size else None
            if place is not None and place < len(tokens):
                known = [*tokens[place : place + most], last][:most]
                return (known * -(-most // len(known)))[:most] if known else []
        return []

    def _learn(self, tokens: Sequence[int]) -> None:
        followers, start = self._followers, max(self._seen, len(tokens) - LOOK_BACK)
        for place in range(start, len(tokens)):
            for size in SIZES:
                if place >= size:
                    followers[tuple(tokens[place - size : place])] = place
        self._seen = len(tokens)
