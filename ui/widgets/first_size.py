"""How large a window is before the user has sized it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = 36
"""Height kept free for the title bar, which the window manager adds outside the window's own size."""


def fit_screen(window: QWidget, width: int, height: int) -> None:
    """Give ``window`` this size, or what its screen has room for; never less than its minimum."""
    size = QSize(width, height).boundedTo(screen_room(window))
    window.resize(size.expandedTo(window.minimumSize()))


def screen_room(window: QWidget) -> QSize:
    """What a window can take of its screen."""
    room = window.screen().availableSize()
    return QSize(room.width(), room.height() - FRAME)
