"""A formula on a line of its own."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from ui.chat.transcript.blocks import Formula as FormulaPart
from ui.chat.transcript.blocks import Span, Style, Styled
from ui.chat.transcript.formulas import Formula
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.part_view import PartView, Range
from ui.chat.transcript.sideways import BlockState, SidewaysView
from ui.chat.transcript.text_view import TextView

SIZE = 1.05
"""Of its letters, compared with the text."""
SMALLEST = 0.75
"""Share of that size down to which a formula shrinks to fit; a wider one scrolls sideways."""
INDENT = 1.2
"""Ems left of a formula that fits."""


class FormulaView(SidewaysView):
    """The drawing, left with an indent, as answers are read; as a whole it is selected or not."""

    def __init__(
        self, look: Look, ink: Ink, width: float, part: FormulaPart, formula: Formula, state: BlockState, colour: str
    ) -> None:
        indent = INDENT * look.em
        em = SIZE * look.formula_em
        room = max(1.0, width - 2 * indent)
        em *= min(1.0, max(SMALLEST, room / (formula.width * em)))
        super().__init__(look, ink, width, state, formula.width * em + 2 * indent)
        self._formula, self._em, self._indent, self._colour = formula, em, indent, colour
        self.length = len(part.source)
        self._top = round(0.2 * look.em)
        below = round(0.2 * look.em) + (8 if self.overflow() > 0 else 0)
        self.height = float(self._top + round((formula.ascent + formula.descent) * em) + below)
        self.baseline = self._top + formula.ascent * em
        self.scroll_to(state.scroll)

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw the formula, on the ground of the selection if it is selected."""
        painter.save()
        painter.setClipRect(QRectF(0, 0, self.width, self.height), Qt.ClipOperation.IntersectClip)
        x = self._indent - self.state.scroll
        if selection is not None and selection[0] < selection[1]:
            box = QRectF(x, 0, self._formula.width * self._em, self.height)
            painter.fillRect(box, self.look.colour("selection"))
        self._formula.paint(painter, x, self.baseline, self._em, self.look.colour(self._colour))
        painter.restore()
        self.paint_bar(painter)

    def position_at(self, point: QPointF) -> int:
        """Before or behind it."""
        middle = self._indent + self._formula.width * self._em / 2
        return 0 if point.x() + self.state.scroll < middle else self.length

    def caret(self, position: int) -> QRectF:
        """At its left or right edge."""
        x = self._indent + (self._formula.width * self._em if position else 0.0)
        return QRectF(x - self.state.scroll, 0, 1, self.height)


def formula_view(look: Look, ink: Ink, width: float, part: FormulaPart, state: BlockState, colour: str) -> PartView:
    """The drawing, or until it is there, or where there is none, the source."""
    formula = look.formulas.find(part.latex, display=True)
    if formula is not None:
        return FormulaView(look, ink, width, part, formula, state, colour)
    view = TextView(look, ink, width, Styled(part.source, (Span(0, len(part.source), Style.CODE),)), colour=colour)
    view.waits = look.formulas.is_coming(part.latex, display=True)
    return view
