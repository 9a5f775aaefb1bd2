"""What stands in the view while there is no message."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from ui.chat.transcript.blocks import Style
from ui.chat.transcript.look import Look


@dataclass(frozen=True, slots=True)
class EmptyText:
    """A greeting and one sentence."""

    title: str = ""
    sentence: str = ""

    def paint(self, painter: QPainter, look: Look, room: QRectF) -> None:
        """Draw both in the middle, a little above the centre."""
        title = look.font(Style.PLAIN, 1)
        height = QFontMetricsF(title).height()
        width = min(room.width() - 2 * look.margin, 34 * look.em)
        left = room.left() + (room.width() - width) / 2
        top = room.top() + room.height() * 0.42 - height
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        painter.setFont(title)
        painter.setPen(look.colour("text"))
        painter.drawText(QRectF(left, top, width, height), flags, self.title)
        painter.setFont(look.body)
        painter.setPen(look.colour("muted"))
        below = QRectF(left, top + height + look.px(8), width, room.height() / 2)
        painter.drawText(below, flags | Qt.TextFlag.TextWordWrap, self.sentence)
