"""Progress that appears late and leaves late, so that short work does not flicker."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

DELAY_MS = 200
STAY_MS = 400


class LateVisibility(QObject):
    """Shows its widgets ``delay_ms`` after `show` and keeps them at least ``stay_ms``."""

    def __init__(
        self, *widgets: QWidget, delay_ms: int = DELAY_MS, stay_ms: int = STAY_MS, parent: QObject | None = None
    ) -> None:
        super().__init__(parent or (widgets[0] if widgets else None))
        self._widgets = widgets
        self._wanted = False
        self._delay, self._stay = QTimer(self), QTimer(self)
        for timer, interval, slot in (
            (self._delay, delay_ms, self._appear),
            (self._stay, stay_ms, self._settle),
        ):
            timer.setSingleShot(True)
            timer.setInterval(interval)
            timer.timeout.connect(slot)
        self._set_visible(False)

    @property
    def wanted(self) -> bool:
        """Whether the work is going on, whatever is seen of it."""
        return self._wanted

    def show(self) -> None:
        """The work began."""
        self._wanted = True
        if not self._is_shown() and not self._delay.isActive():
            self._delay.start()

    def hide(self) -> None:
        """The work ended."""
        self._wanted = False
        self._delay.stop()
        if not self._stay.isActive():
            self._settle()

    def _appear(self) -> None:
        self._set_visible(True)
        self._stay.start()

    def _settle(self) -> None:
        if not self._wanted:
            self._set_visible(False)

    def _is_shown(self) -> bool:
        return any(not widget.isHidden() for widget in self._widgets)

    def _set_visible(self, visible: bool) -> None:
        for widget in self._widgets:
            widget.setVisible(visible)
