"""Who hears of an answer while it is given, as with MLC's chat module: of the whole text so far, again and again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

ProgressCallback = Callable[[str, bool], object]
"""Called with the answer so far and False, and once more with the whole of it and True."""


class DeltaCallback:
    """Hears only what is new: override `delta` and `end`.

    Args:
        callback_interval: Of so many calls one is passed on; the last one always.
    """

    def __init__(self, callback_interval: int = 1) -> None:
        if callback_interval < 1:
            raise ValueError("the interval is at least 1")
        self._interval, self._calls, self._told = callback_interval, 0, 0

    def __call__(self, message: str = "", stopped: bool = False) -> None:
        self._calls += 1
        if stopped or self._calls % self._interval == 0:
            if len(message) > self._told:
                self.delta(message[self._told :])
            self._told = len(message)
        if stopped:
            self._calls = self._told = 0
            self.end()

    def delta(self, text: str) -> None:
        """New text."""

    def end(self) -> None:
        """The answer is whole."""


class StreamToStdout(DeltaCallback):
    """Prints an answer as it comes, and a line end behind it.

    Args:
        callback_interval: As for `DeltaCallback`.
        file: Default: standard output.
    """

    def __init__(self, callback_interval: int = 1, file: TextIO | None = None) -> None:
        super().__init__(callback_interval)
        self._file = file

    def delta(self, text: str) -> None:
        """Print it."""
        print(text, end="", file=self._file or sys.stdout, flush=True)

    def end(self) -> None:
        """Print a line end."""
        print(file=self._file or sys.stdout, flush=True)
