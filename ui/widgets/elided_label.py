"""One line of plain text that ends in an ellipsis instead of making its window wider."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QStyle, QStyleOption, QWidget


def plain_tooltip(text: str) -> str:
    """``text`` as a tooltip that is never taken for markup."""
    return f"<p style='white-space: pre-wrap'>{escape(text)}</p>" if text else ""


class ElidedLabel(QLabel):
    """A label that takes the room it gets; the whole text is its tooltip while cut."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own_tooltip = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show ``text``; line breaks become spaces."""
        super().setText(" ".join(text.split()))
        self._update_tooltip()

    def set_tooltip(self, text: str) -> None:
        """A tooltip of its own, shown instead of the cut text."""
        self._own_tooltip = text
        self._update_tooltip()

    def is_cut(self) -> bool:
        """Whether the text is wider than the label."""
        return self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()

    def minimumSizeHint(self) -> QSize:
        """Room for the ellipsis and two letters."""
        return QSize(self.fontMetrics().horizontalAdvance("mm…"), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Decide again whether the text is cut."""
        super().resizeEvent(event)
        self._update_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, cut at the end when it must be."""
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        room = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.setPen(option.palette.windowText().color())
        painter.drawText(room, int(self.alignment() | Qt.TextFlag.TextSingleLine), text)

    def _update_tooltip(self) -> None:
        self.setToolTip(plain_tooltip(self._own_tooltip or (self.text() if self.is_cut() else "")))
