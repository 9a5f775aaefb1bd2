"""What the marks in the bars stand for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.memory import words
from ui.memory.paint import paint_pattern
from ui.memory.shares import Bar, Owner, Region
from ui.theme import SPACE_S, SPACE_XS, Theme

MARK = 12
COLUMNS = 3


def marks(bars: Sequence[Bar]) -> tuple[tuple[Region, Owner], ...]:
    """Each kind of segment that the bars show, once, in their order."""
    return tuple(dict.fromkeys((part.region, part.owner) for bar in bars for part in bar.segments))


class Legend(QWidget):
    """A mark and its words for each kind of segment, three in a line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._marks: tuple[tuple[Region, Owner], ...] = ()
        self.setObjectName("memoryLegend")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Explain what these bars show."""
        found = marks(bars)
        if found != self._marks:
            self._marks = found
            self.setAccessibleName(", ".join(words.legend_word(*mark) for mark in found))
            self.setVisible(bool(found))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Room for all words."""
        lines = -(-len(self._marks) // COLUMNS)
        return QSize(COLUMNS * self._column(), lines * self._line())

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Marks as in the bars, and their words."""
        tokens, side, line = self._theme.tokens, self._theme.px(MARK), self._line()
        painter = QPainter(self)
        metrics = self.fontMetrics()
        for number, mark in enumerate(self._marks):
            x, y = number % COLUMNS * self._column(), number // COLUMNS * line
            box = QRectF(x, y + (line - side) / 2, side, side)
            paint_pattern(painter, box, *mark, tokens)
            painter.setPen(QPen(QColor(tokens.outline), 1))
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
            painter.setPen(QColor(tokens.muted))
            baseline = y + (line + metrics.ascent() - metrics.descent()) / 2
            painter.drawText(int(x + side + SPACE_S), int(baseline), words.legend_word(*mark))

    def _column(self) -> int:
        widest = max(
            (self.fontMetrics().horizontalAdvance(words.legend_word(*mark)) for mark in self._marks), default=0
        )
        return self._theme.px(MARK) + SPACE_S + widest + 2 * SPACE_S

    def _line(self) -> int:
        return self.fontMetrics().lineSpacing() + SPACE_XS
