"""A slider that shows where it stands, and that it has the focus."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSlider, QStyle, QWidget

from ui.theme import TARGET_SIZE, Theme

GROOVE, HANDLE, RING = 4, 18, 2


class Slider(QSlider):
    """Horizontal. A click on the line goes there at once."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """High enough for a finger."""
        return QSize(self._theme.px(160), self._theme.px(TARGET_SIZE))

    def minimumSizeHint(self) -> QSize:
        """As high, but narrow."""
        return QSize(self._theme.px(80), self._theme.px(TARGET_SIZE))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump to where it was pressed, then follow."""
        if event.button() is Qt.MouseButton.LeftButton and self.isEnabled():
            self.setSliderDown(True)
            self._follow(event)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer while it is pressed."""
        if self.isSliderDown():
            self._follow(event)
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay there."""
        self.setSliderDown(False)
        super().mouseReleaseEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Line, the part that is passed, handle, focus ring."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle, start, width = self.height() / 2, self._reach(), self._span()
        x = start + QStyle.sliderPositionFromValue(self.minimum(), self.maximum(), self.sliderPosition(), int(width))
        line = QRectF(start, middle - GROOVE / 2, width, GROOVE)
        accent = QColor(tokens.accent if self.isEnabled() else tokens.disabled)
        for box, colour in ((line, QColor(tokens.outline)), (QRectF(line.topLeft(), line.size()), accent)):
            if colour is accent:
                box.setRight(x)
            painter.setBrush(colour)
            painter.drawRoundedRect(box, GROOVE / 2, GROOVE / 2)
        radius = self._theme.px(HANDLE) / 2
        painter.setBrush(QColor(tokens.surface))
        painter.setPen(QPen(accent, 2))
        painter.drawEllipse(QPointF(x, middle), radius - 1, radius - 1)
        if self.hasFocus():
            painter.setBrush(accent)
            painter.drawEllipse(QPointF(x, middle), radius - 1, radius - 1)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.focus), RING))
            painter.drawEllipse(QPointF(x, middle), radius + RING + 1, radius + RING + 1)

    def _reach(self) -> float:
        """Free at each end, so that the handle and its ring are whole there."""
        return self._theme.px(HANDLE) / 2 + 2 * RING + 1

    def _span(self) -> float:
        return max(1.0, self.width() - 2 * self._reach())

    def _follow(self, event: QMouseEvent) -> None:
        place = int(event.position().x() - self._reach())
        self.setValue(QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), place, int(self._span())))
