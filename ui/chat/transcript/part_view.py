"""What every laid-out part can do."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from ui.chat.transcript.look import Ink, Look

Range = tuple[int, int]
"""Selected characters of a part: from, to."""
LINE = 3.0
"""Pixels: how thick the line under what was found is."""


class PartView:
    """A part laid out for one width. Coordinates are its own, the top left corner is 0, 0.

    Attributes:
        height: Pixels, exact.
        natural_width: Width of what is written, at most the width it was laid out for.
        length: Characters that a position can stand between.
        baseline: Where the first line of text stands, 0 when there is none.
        waits: It shows the source of a formula that is being drawn.
    """

    height: float = 0.0
    natural_width: float = 0.0
    length: int = 0
    baseline: float = 0.0
    waits: bool = False

    def __init__(self, look: Look, ink: Ink, width: float) -> None:
        self.look, self.ink, self.width = look, ink, width

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw what lies in ``clip``."""

    def position_at(self, point: QPointF) -> int:
        """Character position nearest to ``point``."""
        return 0

    def caret(self, position: int) -> QRectF:
        """Where a caret at ``position`` stands."""
        return QRectF(0, 0, 1, self.height)

    def under(self, start: int, end: int) -> list[QRectF]:
        """Where a line is drawn under these characters: right below the letters."""
        first, last = self.caret(start), self.caret(end)
        right = last.left() if last.top() == first.top() else self.width
        return [QRectF(first.left(), first.bottom() - LINE, max(4.0, right - first.left()), LINE)]

    def link_at(self, point: QPointF) -> str:
        """Address under ``point``, or an empty string."""
        return ""
