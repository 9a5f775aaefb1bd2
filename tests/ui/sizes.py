"""Where the widgets of a window are, to compare two windows."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


def sizes(window: QWidget) -> list[str]:
    """Every widget that is seen, with its rectangle in the window."""
    found = []
    for widget in window.findChildren(QWidget):
        if widget.isVisibleTo(window) and not widget.isWindow():
            place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
            found.append(f"{type(widget).__name__} {widget.objectName()} {place.getRect()}")
    return found


def settle(qtbot: QtBot, window: QWidget) -> list[str]:
    """The sizes once they do not change any more."""
    last: list[str] = []

    def same() -> bool:
        nonlocal last
        before, last = last, sizes(window)
        return before == last

    qtbot.waitUntil(same)
    return last
