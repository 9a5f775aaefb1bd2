"""Where the parts of the main window lie."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.theme import SPACE_S


def hairline(role: str = "hairline") -> QFrame:
    """One pixel between two parts; ``role`` also "hairline-vertical"."""
    line = QFrame()
    line.setProperty("role", role)
    return line


def middle(header: QWidget, page: QWidget, below: Sequence[QWidget]) -> QVBoxLayout:
    """The header, the page that takes the room, and what stands below it."""
    column = QVBoxLayout()
    column.setContentsMargins(0, 0, 0, SPACE_S)
    column.setSpacing(0)
    column.addWidget(header)
    column.addWidget(hairline())
    column.addWidget(page, 1)
    for place, part in enumerate(below):
        if place:
            column.addSpacing(SPACE_S)
        column.addWidget(part)
    return column


def whole(left: Sequence[QWidget], content: QVBoxLayout, right: QWidget, strip: QWidget) -> QWidget:
    """Everything: side by side what is at the left, the content and the panel; the memory strip under it."""
    upper = QHBoxLayout()
    upper.setSpacing(0)
    for part in left:
        upper.addWidget(part)
    upper.addLayout(content, 1)
    upper.addWidget(right)
    centre = QWidget()
    column = QVBoxLayout(centre)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addLayout(upper, 1)
    column.addWidget(hairline())
    column.addWidget(strip)
    return centre
