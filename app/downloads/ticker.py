"""Tells of changes, at once when nothing was told for a while, else a little later."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

PUBLISH_MS = 250


class Ticker(QObject):
    """At most four times a second.

    Args:
        restless: Something changes by time alone, such as a countdown.

    Attributes:
        told: Something has changed.
    """

    told = Signal()

    def __init__(self, restless: Callable[[], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._restless = restless
        self._dirty = self._closed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PUBLISH_MS)
        self._timer.timeout.connect(self._tick)

    def publish(self) -> None:
        """Something has changed."""
        self._dirty = True
        if not self._timer.isActive() and not self._closed:
            self._tick()

    def stop(self) -> None:
        """Tell nothing any more."""
        self._closed = True
        self._timer.stop()

    def _tick(self) -> None:
        if self._dirty or self._restless():
            self._dirty = False
            self._timer.start()
            self.told.emit()
