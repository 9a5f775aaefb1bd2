"""At most one call in each interval, the first at once and none lost."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class Throttle(QObject):
    """Calls ``action`` after `poke`: at once, or when ``interval_ms`` have passed since the last call."""

    def __init__(self, interval_ms: int, action: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._action = action
        self._waiting = False
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(interval_ms)
        self.timer.timeout.connect(self._due)

    def poke(self) -> None:
        """Something changed."""
        if self.timer.isActive():
            self._waiting = True
        else:
            self._call()

    def stop(self) -> None:
        """Forget what waits."""
        self.timer.stop()
        self._waiting = False

    def _due(self) -> None:
        if self._waiting:
            self._call()

    def _call(self) -> None:
        self._waiting = False
        self.timer.start()
        self._action()
