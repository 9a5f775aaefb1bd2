"""What is wider than the column scrolls sideways by itself."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.part_view import PartView


@dataclass(slots=True)
class BlockState:
    """What the user did to a block; it outlives the view of the block."""

    wrap: bool = False
    scroll: float = 0.0


class SidewaysView(PartView):
    """A part with a width of its own.

    Args:
        state: Holds the offset; parts that share it scroll together.
        content_width: Pixels that it needs.
        last: The handle is drawn below this part.
    """

    def __init__(
        self, look: Look, ink: Ink, width: float, state: BlockState, content_width: float, *, last: bool = True
    ) -> None:
        super().__init__(look, ink, width)
        self.state, self._content_width, self._last = state, content_width, last
        self.natural_width = min(width, content_width)

    def overflow(self) -> float:
        """By how much the content is wider than its place, pixels."""
        return max(0.0, self._content_width - self.width)

    def scroll_to(self, offset: float) -> bool:
        """Scroll sideways. True: it moved."""
        offset = min(max(0.0, offset), self.overflow())
        moved = offset != self.state.scroll
        self.state.scroll = offset
        return moved

    def bar(self) -> QRectF:
        """The handle of the sideways scroll bar; empty when all is seen."""
        overflow = self.overflow()
        if overflow <= 0 or not self._last:
            return QRectF()
        length = max(32.0, self.width * self.width / self._content_width)
        x = (self.width - length) * self.state.scroll / overflow
        return QRectF(x, self.height - 6, length, 4)

    def paint_bar(self, painter: QPainter) -> None:
        """Draw the handle."""
        handle = self.bar()
        if not handle.isEmpty():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.look.colour("outline"))
            painter.drawRoundedRect(handle, 2, 2)
            painter.setBrush(Qt.BrushStyle.NoBrush)
