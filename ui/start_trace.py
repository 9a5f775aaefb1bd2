"""Measures how long it takes from the start of the process to a window one can use."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

SWITCH = "VRAMBLE_TRACE_START"


def process_age_ms() -> float:
    """Milliseconds since the kernel started this process (resolution 10 ms)."""
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return (time.clock_gettime(time.CLOCK_BOOTTIME) - started) * 1000


class FirstPaint(QObject):
    """Calls ``usable`` once, after the first paint of ``window`` with the focus in a widget of it."""

    def __init__(self, window: QWidget, usable: Callable[[], None]) -> None:
        super().__init__(window)
        self._window, self._usable = window, usable
        self._painted = False
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the paint, then for the focus."""
        if event.type() in (QEvent.Type.Paint, QEvent.Type.WindowActivate, QEvent.Type.UpdateRequest):
            self._painted = self._painted or event.type() is not QEvent.Type.WindowActivate
            QTimer.singleShot(0, self, self._look)
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        focused: QWidget | None = self._window.focusWidget()
        if self._painted and focused is not None:
            self._window.removeEventFilter(self)
            usable, self._usable = self._usable, _nothing
            usable()


def trace_start(window: QWidget) -> None:
    """Print one line on stderr when ``window`` is usable, if the environment asks for it."""
    if os.environ.get(SWITCH):
        FirstPaint(window, lambda: print(f"window usable after {process_age_ms():.0f} ms", file=sys.stderr, flush=True))


def _nothing() -> None:
    return None
