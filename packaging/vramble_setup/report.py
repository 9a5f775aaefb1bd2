"""What the user reads while the program is being set up."""

from __future__ import annotations

import sys


class SetupError(Exception):
    """Set-up cannot go on. The message says what is wrong, the advice what to do about it."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        between = "\n" if "\n" in self.message else " "
        return self.message + between + self.advice


def say(text: str) -> None:
    """Prints one plain line. Everything goes to stderr, so that stdout stays the program's own."""
    print(text, file=sys.stderr, flush=True)


class Progress:
    """Shows one line that moves on a terminal, and every tenth part in a log file."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = -1
        self._moving = sys.stderr.isatty()

    def at(self, done: int, total: int) -> None:
        percent = 100 * done // max(total, 1)
        step = percent if self._moving else percent // 10 * 10
        if step == self._shown:
            return
        self._shown = step
        if self._moving:
            print(f"\r{self._title}: {step} % ", end="", file=sys.stderr, flush=True)
        else:
            say(f"{self._title}: {step} %")

    def end(self) -> None:
        if self._moving and self._shown >= 0:
            print(file=sys.stderr, flush=True)
