"""The round button that brings the view back to the end."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from ui.theme import SPACE_S, TARGET_SIZE, Theme
from ui.theming import icons


class EndButton(QAbstractButton):
    """40 px, an arrow down; floats over the end of the column."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("toEndButton")
        self.setAccessibleName(self.tr("To the end"))
        self.setToolTip(self.tr("To the end"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.hide()

    def sizeHint(self) -> QSize:
        """The target and a margin for the focus ring."""
        side = self._theme.px(TARGET_SIZE) + 4
        return QSize(side, side)

    def place(self, room: QRect, right: float) -> None:
        """Stand at the bottom of ``room``: right of the column, which ends at ``right``, or else over its corner."""
        size = self.sizeHint()
        x = min(int(right) + SPACE_S, room.right() - SPACE_S - size.width())
        self.setGeometry(QRect(x, room.bottom() - SPACE_S - size.height(), size.width(), size.height()))
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A disc with an arrow."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = tokens.pressed if self.isDown() else tokens.hover if self.underMouse() else tokens.surface
        edge, width = (tokens.focus, 2.0) if self.hasFocus() else (tokens.outline, 1.0)
        painter.setPen(QPen(QColor(edge), width))
        painter.setBrush(QColor(ground))
        radius = self.width() / 2 - 3
        middle = QPointF(self.width() / 2, self.height() / 2)
        painter.drawEllipse(middle, radius, radius)
        size = self._theme.px(18)
        box = QRectF(middle.x() - size / 2, middle.y() - size / 2, size, size)
        painter.setPen(Qt.PenStyle.NoPen)
        icons.draw(painter, self._theme.icon_path("arrow-down"), box, QColor(tokens.text))
        painter.end()
