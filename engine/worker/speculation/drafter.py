"""Who guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.worker.cancel import Stop


class Drafter(Protocol):
    """Guesses tokens for one answer after the other."""

    def forget(self) -> None:
        """Another answer begins, or tokens were taken out of the middle: nothing of what was seen is certain."""

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        """What may come behind ``tokens`` and ``last``, at most ``most`` tokens; empty: no idea.

        Args:
            tokens: Only grows between two calls of `forget`.
            stop: When it is set something else is waiting.
        """


class FirstWithAnIdea:
    """Asks one drafter after the other."""

    def __init__(self, drafters: Sequence[Drafter]) -> None:
        self._drafters = tuple(drafters)

    def forget(self) -> None:
        """All of them."""
        for drafter in self._drafters:
            drafter.forget()

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        """The guess of the first one that has any."""
        for drafter in self._drafters:
            if guess := drafter.draft(tokens, last, most, stop):
                return guess
        return []
