"""Bars of speeds with the spread of the runs, and a line at what the memory allows.

It is drawn by hand: two dozen rectangles need no plotting library, which would have to be loaded for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.bench import words
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme

BAR, ROW = 18, 34
MOST_LABEL = 250
ENOUGH_ABOVE = 1.04
"""Room to the right of the longest bar."""

ROOM_FOR_POINTER = 1.08
FAR = 2.5
"""Limits beyond so many times the longest bar are only pointed at."""


@dataclass(frozen=True)
class Bar:
    """One bar: speeds in tokens a second, ``ceiling`` is the roofline; ``best`` stands out, ``live`` is not final."""

    label: str
    value: float
    low: float
    high: float
    ceiling: float | None = None
    best: bool = False
    live: bool = False


class BarChart(QWidget):
    """Horizontal bars on one scale that begins at 0."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._title = theme, title
        self._bars: tuple[Bar, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)
        self.hide()
        theme.changed.connect(self.updateGeometry)

    @property
    def bars(self) -> tuple[Bar, ...]:
        """What is shown."""
        return self._bars

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Show ``bars``; none hides the chart."""
        if tuple(bars) == self._bars:
            return
        self._bars = tuple(bars)
        self.setVisible(bool(bars))
        self.setAccessibleDescription("; ".join(self._spoken(bar) for bar in bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as its rows."""
        head = self._theme.px(30)
        return QSize(420, head + len(self._bars) * self._theme.px(ROW) + SPACE_S)

    def minimumSizeHint(self) -> QSize:
        """Never cut in height."""
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Title, then one row for each bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, metrics = self._theme.tokens, QFontMetrics(self._theme.font())
        head = self._theme.px(30)
        painter.setFont(self._theme.font(bold=True))
        painter.setPen(QColor(tokens.text))
        painter.drawText(QRectF(0, 0, self.width(), head), int(Qt.AlignmentFlag.AlignVCenter), self._title)
        painter.setFont(self._theme.font())
        widest = max((metrics.horizontalAdvance(bar.label) for bar in self._bars), default=0)
        left = min(widest, self._theme.px(MOST_LABEL)) + SPACE_M
        room = self.width() - left - self._value_width(metrics) - SPACE_S
        scale = self._scale()
        for number, bar in enumerate(self._bars):
            row = QRectF(0, head + number * self._theme.px(ROW), self.width(), self._theme.px(ROW))
            self._paint_label(painter, row, bar, left - SPACE_M, metrics)
            if scale > 0 and room > 0:
                self._paint_bar(painter, QRectF(left, row.y(), room, row.height()), bar, scale)
        painter.end()

    def _scale(self) -> float:
        """Speed at the right end. A limit that is far away would leave no room for the bars."""
        highest = max((bar.high for bar in self._bars), default=0.0)
        near = [bar.ceiling for bar in self._bars if bar.ceiling and bar.ceiling <= FAR * highest]
        far = any(bar.ceiling and bar.ceiling > FAR * highest for bar in self._bars)
        return max(highest * (ROOM_FOR_POINTER if far else 1.0), *near, 0.0) * ENOUGH_ABOVE

    def _value_width(self, metrics: QFontMetrics) -> int:
        bold = QFontMetrics(self._theme.font(bold=True))
        return max((bold.horizontalAdvance(words.speed(bar.value)) for bar in self._bars), default=0) + SPACE_S

    def _paint_label(self, painter: QPainter, row: QRectF, bar: Bar, width: float, metrics: QFontMetrics) -> None:
        painter.setPen(QColor(self._theme.tokens.text))
        text = metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, int(width) + 1)
        painter.drawText(row.adjusted(0, 0, width - row.width() + 1, 0), int(Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_bar(self, painter: QPainter, box: QRectF, bar: Bar, scale: float) -> None:
        tokens = self._theme.tokens
        height, middle = self._theme.px(BAR), box.center().y()
        track = QRectF(box.x(), middle - height / 2, box.width(), height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.raised))
        painter.drawRoundedRect(track, 4, 4)
        filled = QRectF(track.x(), track.y(), max(3.0, box.width() * bar.value / scale), height)
        colour = QColor(tokens.accent if bar.best else tokens.ram)
        colour.setAlphaF(0.55 if bar.live else 1.0)
        painter.setBrush(colour)
        painter.drawRoundedRect(filled, 4, 4)
        if bar.high > bar.low:
            self._paint_spread(painter, box, bar, scale, middle)
        if bar.ceiling and bar.ceiling <= scale:
            self._paint_ceiling(painter, track, box.x() + box.width() * bar.ceiling / scale)
        elif bar.ceiling:
            self._paint_pointer(painter, track)
        painter.setFont(self._theme.font(bold=True))
        painter.setPen(QColor(tokens.text))
        value = QRectF(box.right() + SPACE_S, box.y(), self.width() - box.right() - SPACE_S, box.height())
        painter.drawText(value, int(Qt.AlignmentFlag.AlignVCenter), words.speed(bar.value))
        painter.setFont(self._theme.font())

    def _paint_spread(self, painter: QPainter, box: QRectF, bar: Bar, scale: float, middle: float) -> None:
        """A whisker from the lowest to the highest run."""
        low, high = (box.x() + box.width() * value / scale for value in (bar.low, bar.high))
        arm = self._theme.px(5)
        for colour, width in ((self._theme.tokens.surface, 4.0), (self._theme.tokens.text, 1.6)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
            for x in (low, high):
                painter.drawLine(QPointF(x, middle - arm), QPointF(x, middle + arm))

    def _paint_ceiling(self, painter: QPainter, track: QRectF, x: float) -> None:
        painter.setPen(QPen(QColor(self._theme.tokens.good), 2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, track.y() - SPACE_XS), QPointF(x, track.bottom() + SPACE_XS))

    def _paint_pointer(self, painter: QPainter, track: QRectF) -> None:
        """An arrow at the right end: the limit lies beyond."""
        middle, arm = track.center().y(), self._theme.px(4)
        right = track.right() - SPACE_XS
        painter.setPen(QPen(QColor(self._theme.tokens.good), 2))
        for back in (arm, 2.2 * arm):
            tip = right - back + arm
            painter.drawPolyline(
                [QPointF(tip - arm, middle - arm), QPointF(tip, middle), QPointF(tip - arm, middle + arm)]
            )

    def _spoken(self, bar: Bar) -> str:
        limit = self.tr(", of {0} that the memory allows").format(words.speed(bar.ceiling)) if bar.ceiling else ""
        return self.tr("{0}: {1} tok/s{2}").format(bar.label, words.speed(bar.value), limit)
