"""Formulas in running text: each takes the place of its first character, the others have no width.

So every position of the text stays a position of what is laid out, and copying gives the LaTeX.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextLine

from ui.chat.transcript.blocks import Span, Style, Styled
from ui.chat.transcript.formulas import Formula
from ui.chat.transcript.look import HEADING_SIZES, Look
from ui.chat.transcript.math_rules import latex_of
from ui.chat.transcript.qt_text import Units

_BODY = "l"
"""A letter, since Qt takes spaces at the end of a line away; it is never seen."""
_NOTHING = "\u2060"
"""Word joiner: no width, and no line ends beside it."""
MARGIN = 0.12
"""Ems of room on both sides of a formula."""


@dataclass(frozen=True, slots=True)
class _Placed:
    span: Span
    formula: Formula
    em: float
    """Pixels; smaller than the text's where the column is too narrow."""


class InlineFormulas:
    """The formulas of one paragraph that are drawn.

    Attributes:
        content: The paragraph; formulas that are not drawn are code.
        waits: One of them may come.
    """

    def __init__(self, look: Look, content: Styled, level: int, width: float) -> None:
        self.waits = False
        self._placed: list[_Placed] = []
        self.content = content
        if any(span.style & Style.MATH for span in content.spans):
            em = look.formula_em * HEADING_SIZES[level]
            self.content = replace(content, spans=tuple(self._taken(look, span, em, width) for span in content.spans))

    def _taken(self, look: Look, span: Span, em: float, width: float) -> Span:
        if not span.style & Style.MATH:
            return span
        latex, display = latex_of(self.content.text[span.start : span.start + span.length])
        formula = look.formulas.find(latex, display=display)
        if formula is None:
            self.waits |= look.formulas.is_coming(latex, display=display)
            return Span(span.start, span.length, (span.style & ~Style.MATH) | Style.CODE, span.href)
        wanted = (formula.width + 2 * MARGIN) * em
        self._placed.append(_Placed(span, formula, em * min(1.0, width / wanted)))
        return span

    def shown(self, text: str) -> str:
        """``text`` with placeholders, of the same length."""
        for one in self._placed:
            start, end = one.span.start, one.span.start + one.span.length
            text = text[:start] + _BODY + _NOTHING * (one.span.length - 1) + text[end:]
        return text

    def without(self, text: str) -> str:
        """``text`` without the formulas."""
        for one in reversed(self._placed):
            text = text[: one.span.start] + text[one.span.start + one.span.length :]
        return text

    @property
    def width(self) -> float:
        """Pixels of all formulas together."""
        return sum(map(self._width, self._placed))

    def formats(self, font: QFont, units: Units) -> list[QTextLayout.FormatRange]:
        """Widths of the placeholders; ``font`` is that of the text."""
        result = []
        letter = QFontMetricsF(font).horizontalAdvance(_BODY)
        for one in self._placed:
            wide = QFont(font)
            wide.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, self._width(one) - letter)
            result.append(_range(units, one.span.start, 1, wide))
            if one.span.length > 1:
                result.append(_range(units, one.span.start + 1, one.span.length - 1, font))
        return result

    @staticmethod
    def _width(one: _Placed) -> float:
        return (one.formula.width + 2 * MARGIN) * one.em

    def reach(self, line: QTextLine, units: Units) -> tuple[float, float]:
        """How far the formulas of ``line`` reach above and below its base line, pixels; 0, 0 without any."""
        above = below = 0.0
        for one in self._placed:
            if line.textStart() <= units.to_qt(one.span.start) < line.textStart() + line.textLength():
                above = max(above, one.formula.ascent * one.em)
                below = max(below, one.formula.descent * one.em)
        return above, below

    def paint(self, painter: QPainter, layout: QTextLayout, units: Units, colour: QColor) -> None:
        """Draw them over the placeholders of ``layout``."""
        for one in self._placed:
            start = units.to_qt(one.span.start)
            line = layout.lineForTextPosition(start)
            if line.isValid():
                left = min(_x(line, start), _x(line, start + 1)) + MARGIN * one.em
                one.formula.paint(painter, left, line.y() + line.ascent(), one.em, colour)


def _x(line: QTextLine, units: int) -> float:
    found: object = line.cursorToX(units)
    return float(found[0])  # type: ignore[index]


def _range(units: Units, start: int, length: int, font: QFont) -> QTextLayout.FormatRange:
    result = QTextLayout.FormatRange()
    result.start = units.to_qt(start)
    result.length = units.to_qt(start + length) - result.start
    form = QTextCharFormat()
    form.setFont(font)
    form.setForeground(QBrush(Qt.GlobalColor.transparent))
    result.format = form
    return result
