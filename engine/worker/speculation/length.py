"""How far a guess reaches: as far as guesses were right of late."""

from __future__ import annotations

from typing import Final

FIRST: Final = 4
"""Tokens of the first guess."""

LONGEST_REST: Final = 32
"""Tokens at most that are written without a guess after guesses that were wrong from their first token."""


class GuessLength:
    """Grows while whole guesses are right, shrinks to what was right of the last one, and rests after misses.

    A wrong guess costs a larger batch; where nothing repeats, one guess in 33 tokens is all that is left of it.

    Args:
        least: A guess that may have fewer tokens is not made.
        most: Tokens of the longest guess.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = max(1, least), most
        self._length = min(max(FIRST, self._least), most)
        self._misses = self._rest = 0

    def next(self, room: int) -> int:
        """Tokens to guess now, at most ``room``; 0: none. Asked once for each call of the model."""
        if self._rest:
            self._rest -= 1
            return 0
        length = min(self._length, room)
        return length if length >= self._least else 0

    def judged(self, guessed: int, right: int) -> None:
        """So many tokens of a guess were right."""
        if right >= guessed:
            self._length, self._misses = min(self._most, 2 * self._length), 0
            return
        self._length = min(self._most, max(self._least, right + 1))
        self._misses = 0 if right else self._misses + 1
        if self._misses > 1:
            self._rest = min(LONGEST_REST, 1 << (self._misses - 1))
