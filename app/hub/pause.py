"""The Hub said to come back later: nobody asks before that."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

TICK_MS = 1000
USUAL_S = 30.0
"""Waited for when the Hub does not say how long."""


class Pause(QObject):
    """A time to wait, which a later word of the Hub may lengthen.

    Attributes:
        ticked: A second less is left.
        over: It may be asked again.
    """

    ticked = Signal()
    over = Signal()

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock = clock
        self._end: float | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.look)

    @property
    def left(self) -> float | None:
        """Seconds still to wait, None when there is nothing to wait for."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def begin(self, seconds: float | None) -> None:
        """Wait at least so long from now; None: as long as is usual."""
        end = self._clock() + (USUAL_S if seconds is None else seconds)
        self._end = end if self._end is None else max(self._end, end)
        self._timer.start()

    def stop(self) -> None:
        """Wait for nothing any more, and tell nobody."""
        self._end = None
        self._timer.stop()

    def look(self) -> None:
        """Look at the clock: tell that it is over, or that a second less is left."""
        if self._end is not None and self._clock() >= self._end:
            self._end = None
            self._timer.stop()
            self.over.emit()
        else:
            self.ticked.emit()
