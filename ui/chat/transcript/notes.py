"""Lines in a message that are not the author's words: progress, failure, nothing said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ui.chat.transcript.blocks import Part, Styled
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.part_view import PartView, Range
from ui.chat.transcript.text_view import TextView
from ui.theming import icons


class NoteKind(Enum):
    """What a note is about; the value is the name of its colour."""

    FAILED = "bad"
    CUT = "warn"
    QUIET = "muted"
    PROGRESS = "muted "


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Part):
    """A sentence of the program inside a message."""

    text: str
    kind: NoteKind


class NoteView(PartView):
    """The sentence in its colour; a failure has a sign before it."""

    def __init__(self, look: Look, ink: Ink, width: float, part: Note) -> None:
        super().__init__(look, ink, width)
        self._part = part
        self._left = look.line * 1.25 if part.kind in (NoteKind.FAILED, NoteKind.CUT) else 0.0
        colour = part.kind.value.strip()
        self._text = TextView(look, ink, width - self._left, Styled(part.text), colour=colour)
        self.height, self.length = self._text.height, self._text.length
        self.natural_width = self._text.natural_width + self._left

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw sign and sentence."""
        if self._left:
            path: QPainterPath = self.look.theme.icon_path("warning-circle")
            size = self.look.line * 0.9
            box = QRectF(0, (self.look.line - size) / 2, size, size)
            icons.draw(painter, path, box, self.look.colour(self._part.kind.value))
        painter.translate(self._left, 0)
        self._text.paint(painter, clip.translated(-self._left, 0), selection)
        painter.translate(-self._left, 0)

    def position_at(self, point: QPointF) -> int:
        """Character position nearest to ``point``."""
        return self._text.position_at(point - QPointF(self._left, 0))

    def caret(self, position: int) -> QRectF:
        """Where a caret at ``position`` stands."""
        return self._text.caret(position).translated(self._left, 0)

    def under(self, start: int, end: int) -> list[QRectF]:
        """Below the letters of the sentence."""
        return [box.translated(self._left, 0) for box in self._text.under(start, end)]


class ThoughtHeadView(PartView):
    """Room for the button that folds a thought."""

    def __init__(self, look: Look, ink: Ink, width: float) -> None:
        super().__init__(look, ink, width)
        self.height = float(look.target)


class RuleView(PartView):
    """A hairline across the column."""

    def __init__(self, look: Look, ink: Ink, width: float) -> None:
        super().__init__(look, ink, width)
        self.height = 1.0
        self.natural_width = width

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw the line."""
        painter.setPen(QPen(self.look.colour("hairline"), 1))
        painter.drawLine(QPointF(0, 0.5), QPointF(self.width, 0.5))
