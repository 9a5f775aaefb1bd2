"""A folder as a row of the list: caret, folder, title, how many are in it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter

from ui.theme import ICON_SIZE, SPACE_S, SPACE_XS, Theme
from ui.theming import icons

INDENT = 20
"""Of what is in a folder, at scale 1."""


def paint_folder(painter: QPainter, theme: Theme, room: QRect, title: str, size: int, *, folded: bool) -> None:
    """Draw it into ``room``."""
    tokens = theme.tokens
    small, large = theme.px(12), theme.px(ICON_SIZE)
    middle = room.center().y()
    _icon(painter, theme, "caret-right" if folded else "caret-down", QPoint(room.left(), middle), small)
    left = room.left() + small + SPACE_XS
    _icon(painter, theme, "folder" if folded else "folder-open", QPoint(left, middle), large)
    painter.setFont(theme.font(0.86))
    painter.setPen(QColor(tokens.text))
    count = str(size) if size else ""
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, count)
    taken = painter.fontMetrics().horizontalAdvance(count) + (SPACE_S if count else 0)
    words = room.adjusted(left + large + SPACE_S - room.left(), 0, -taken, 0)
    painter.setFont(theme.font())
    line = painter.fontMetrics().elidedText(" ".join(title.split()), Qt.TextElideMode.ElideRight, words.width())
    painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), line)


def _icon(painter: QPainter, theme: Theme, name: str, left: QPoint, size: int) -> None:
    box = QRect(left.x(), 0, size, size)
    box.moveCenter(QPoint(box.center().x(), left.y()))
    icons.draw(painter, theme.icon_path(name), box.toRectF(), QColor(theme.tokens.text))
