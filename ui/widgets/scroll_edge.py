"""The line between what scrolls and what stands still below it."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class ScrollEdge(QFrame):
    """A hairline below ``area``, shown while not all of it has room."""

    def __init__(self, area: QScrollArea, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "hairline")
        self.setVisible(False)
        area.verticalScrollBar().rangeChanged.connect(lambda _least, most: self.setVisible(most > 0))
