"""Marks of what happened: an arrow up for a load, down for an unload, a bar for an answer."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from app.memory.history import MarkerKind
from ui.theme import Tokens


def paint_event_mark(painter: QPainter, box: QRectF, kind: MarkerKind, tokens: Tokens) -> None:
    """Draw the mark of ``kind`` into ``box``; the bar of an answer fills its width."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    if kind is MarkerKind.ANSWER:
        painter.setBrush(QColor(tokens.accent))
        painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), 2, 2)
    else:
        painter.setBrush(QColor(tokens.text))
        tip, foot = (box.top(), box.bottom()) if kind is MarkerKind.LOAD else (box.bottom(), box.top())
        middle, half = box.center().x(), box.width() / 2
        painter.drawPolygon(
            QPolygonF([QPointF(middle, tip), QPointF(middle + half, foot), QPointF(middle - half, foot)])
        )
    painter.restore()
