"""What screen readers get: a calm description, and at once what the keyboard chose."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

CALM_MS = 5000
"""A description changes at most so often: figures move each second."""


class Speaker(QObject):
    """Speaks for one widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._text = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CALM_MS)
        self._timer.timeout.connect(self._describe)

    def rest(self, text: str) -> None:
        """Describe the widget by ``text``, now or a little later."""
        self._text = text
        if not self._timer.isActive():
            self._describe()

    def say(self, text: str) -> None:
        """Have ``text`` read out now."""
        self._text = text
        self._describe()
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._widget, text))

    def _describe(self) -> None:
        if self._text != self._widget.accessibleDescription():
            self._widget.setAccessibleDescription(self._text)
            self._timer.start()
