"""A centred column of readable width."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.theme import Theme

COLUMN_WIDTH = 820


class Column(QWidget):
    """Keeps ``inside`` in the middle and at most 820 px wide (more with larger text).

    ``beside`` is kept free at the right end, so that columns with and without a scroll bar stand in one line.
    """

    def __init__(
        self, inside: QWidget, theme: Theme, margin: int, beside: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._inside, self._theme = inside, theme
        row = QHBoxLayout(self)
        row.setContentsMargins(margin, 0, margin + beside, 0)
        row.addStretch(1)
        row.addWidget(inside, 1000)
        row.addStretch(1)
        theme.changed.connect(self._limit)
        self._limit()

    def _limit(self) -> None:
        self._inside.setMaximumWidth(self._theme.px(COLUMN_WIDTH))
