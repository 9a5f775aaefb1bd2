"""How large a window is before the user has sized it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = 36
"""Height kept free for the title bar, which the window manager adds outside the window's own size."""


def fit_screen(window: QWidget, width: int, height: int) -> None:
    """Give ``window`` this size, or what its screen has room for; never less than its minimum."""
    room = window.screen().availableSize()
    size = QSize(width, height).boundedTo(QSize(room.width(), room.height() - FRAME))
    window.resize(size.expandedTo(window.minimumSize()))
