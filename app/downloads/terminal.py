"""What a command shows of a download while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from app.downloads.speed import SpeedMeter
from engine.downloads.messages import Event, Note, Progress, Waiting
from engine.library.sizes import size_text

WORDS = {"checking": "checking what was downloaded"}
"""Stages that are not called as they are named."""

MOVING = ("loading", "repairing")


class Terminal:
    """Progress as one line that is rewritten; without a terminal only what is worth keeping in a log."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._clock = clock
        self._meter = SpeedMeter()
        self._width = 0

    def line(self, text: str) -> None:
        """A line that stays."""
        self.end()
        print(text, file=self._stream, flush=True)

    def show(self, event: Event) -> None:
        """Follow ``event``."""
        if isinstance(event, Note):
            self.line(event.text)
        elif isinstance(event, Waiting):
            self.line(f"{event.reason} Trying again in {event.seconds:.0f} s.")
            self._meter.clear()
        elif isinstance(event, Progress) and self._live:
            self._rewrite(self._progress(event))

    def end(self) -> None:
        """Leave the line that is being rewritten."""
        if self._width:
            print(file=self._stream)
            self._width = 0

    def _progress(self, event: Progress) -> str:
        now = self._clock()
        if event.stage in MOVING:
            self._meter.add(now, event.done)
        text = f"{WORDS.get(event.stage, event.stage)}  {size_text(event.done)}"
        if event.total:
            text += f" of {size_text(event.total)}  {100 * event.done / event.total:.0f} %"
        speed = self._meter.speed(now) if event.stage in MOVING else None
        return f"{text}  {speed / 1e6:.1f} MB/s" if speed else text

    def _rewrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
