"""Paints a row of the picker: icon, name cut in its middle, size at the right end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.picker.model import ENTRY_ROLE, SIZE_ROLE
from ui.theme import ICON_SIZE, RADIUS, SPACE_M, SPACE_S, SPACE_XS, Theme

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 44
RING = 3


class RowDelegate(QStyledItemDelegate):
    """Names end in what tells files apart (the quant), so their middle is left out when there is no room.

    Args:
        marks: Whether chosen files have a mark, because there can be several.
    """

    def __init__(self, theme: Theme, marks: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._marks = theme, marks

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Of constant height."""
        return QSize(0, self._theme.px(ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, ring, mark, icon, name, size."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body: QRect = option.rect.adjusted(SPACE_XS, 1, -SPACE_XS, -1)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        self._ground(painter, body, option.state, chosen)
        room = body.adjusted(SPACE_M, 0, -SPACE_M, 0)
        side = self._theme.px(ICON_SIZE)
        icon: QIcon = index.data(Qt.ItemDataRole.DecorationRole)
        if self._marks() and not index.data(ENTRY_ROLE).is_folder:
            icon = self._theme.icon("check-square" if chosen else "square", "accent" if chosen else "muted")
        place = QRect(room.left(), room.center().y() - side // 2, side, side)
        icon.paint(painter, place)
        room.setLeft(place.right() + SPACE_S)
        self._words(painter, room, index)
        painter.restore()

    def _ground(self, painter: QPainter, body: QRect, state: QStyle.StateFlag, chosen: bool) -> None:
        tokens = self._theme.tokens
        if chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if chosen else tokens.hover))
            painter.drawRoundedRect(body, RADIUS, RADIUS)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.focus), RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(2, 2, -2, -2), RADIUS, RADIUS)

    def _words(self, painter: QPainter, room: QRect, index: Index) -> None:
        font = self._theme.font()
        painter.setFont(font)
        size = index.data(SIZE_ROLE)
        middle = Qt.AlignmentFlag.AlignVCenter
        if size:
            painter.setPen(QColor(self._theme.tokens.muted))
            painter.drawText(room, int(middle | Qt.AlignmentFlag.AlignRight), size)
            room.setRight(room.right() - painter.fontMetrics().horizontalAdvance(size) - SPACE_M)
        painter.setPen(QColor(self._theme.tokens.text))
        name = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, int(middle | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine), name)
