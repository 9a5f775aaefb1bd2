"""What `vramble chat` writes to a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from engine.protocol.frames import Delta, Progress

DIM, NOT_DIM = "\033[2m", "\033[22m"

CONTROLS = {code: "�" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
"""Characters that a terminal obeys: a model must not move the cursor or rename the window."""


LATE = 0.7
"""Seconds after which it is worth a word that the prompt is being read."""


class Screen:
    """Shows an answer as it comes; its thought dimmed, on standard error, if that is a terminal.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, *, shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()
        self._reading = False
        self._shown, self._dims = shown, shown and sys.stderr.isatty()
        self._tames = shown and sys.stdout.isatty()
        self._thinking = False

    def prompt(self, progress: Progress) -> None:
        """How much of a long prompt was read."""
        if self._dims and progress.done < progress.total and self._clock() - self._began > LATE:
            self._reading = True
            sys.stderr.write(f"\r{DIM}Reading {progress.done} of {progress.total} tokens{NOT_DIM}\033[K")
            sys.stderr.flush()

    def show(self, delta: Delta) -> None:
        """Write what is new."""
        self._wipe()
        if delta.thinking and self._dims:
            thought = delta.thinking.translate(CONTROLS)
            sys.stderr.write(thought if self._thinking else DIM + thought)
            sys.stderr.flush()
            self._thinking = True
        if delta.text and self._shown:
            self.close()
            sys.stdout.write(delta.text.translate(CONTROLS) if self._tames else delta.text)
            sys.stdout.flush()

    def close(self) -> None:
        """End the thought, if one is shown."""
        self._wipe()
        if self._thinking:
            sys.stderr.write(f"{NOT_DIM}\n\n")
            sys.stderr.flush()
            self._thinking = False

    def _wipe(self) -> None:
        if self._reading:
            self._reading = False
            wipe_progress()


def tell(text: str) -> None:
    """A line that is no part of an answer."""
    print(text, file=sys.stderr, flush=True)


def show_progress(progress: Progress) -> None:
    """How much of the model is loaded, on a terminal."""
    if sys.stderr.isatty() and progress.total > 0:
        sys.stderr.write(f"\rLoading {100 * progress.done // progress.total} %")
        sys.stderr.flush()


def wipe_progress() -> None:
    """Take the progress away."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
