"""When the transcript is arranged again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from PySide6.QtCore import QObject, QTimer

FRAME_MS = 33
"""Shortest time between two refreshes while an answer grows."""
SHARE = 5
"""A refresh may come again after so many times what the last one took."""


class Pace(QObject):
    """At once after a change, but while only an answer grows no more often than arranging and painting are cheap.

    Attributes:
        stale: What was placed belongs to rows that are others now.
    """

    def __init__(self, refresh: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.stale = True
        self._arranged_s = self._painted_s = 0.0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(refresh)

    def changed(self, growing: bool) -> None:
        """Rows changed; ``growing``: only the text of an answer that is being written."""
        if not growing:
            self.stale = True
            self._soon.start(0)
        elif not self._soon.isActive():
            self._soon.start(max(FRAME_MS, int(1000 * SHARE * (self._arranged_s + self._painted_s))))

    @contextmanager
    def arranging(self) -> Iterator[None]:
        """Around what a refresh does."""
        begun = perf_counter()
        self._soon.stop()
        self.stale = False
        yield
        self._arranged_s = perf_counter() - begun

    @contextmanager
    def painting(self) -> Iterator[None]:
        """Around what a paint event does."""
        begun = perf_counter()
        yield
        self._painted_s = perf_counter() - begun
