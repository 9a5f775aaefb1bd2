"""A paragraph or heading, laid out by one QTextLayout: no document, so nothing can be loaded or opened by it."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from ui.chat.transcript.blocks import Span, Style, Styled
from ui.chat.transcript.inline_formulas import InlineFormulas
from ui.chat.transcript.look import HEADING_SIZES, PILL_PADDING, Ink, Look
from ui.chat.transcript.part_view import LINE, PartView, Range
from ui.chat.transcript.qt_text import LINE_SEPARATOR, Units, displayable, is_right_to_left, mixes_directions

_ALIGNMENTS = {
    "l": Qt.AlignmentFlag.AlignLeft,
    "c": Qt.AlignmentFlag.AlignHCenter,
    "r": Qt.AlignmentFlag.AlignRight,
}


class TextView(PartView):
    """Running text with styles and links.

    Args:
        level: Heading level, 0 for body text.
        align: ``l``, ``c``, ``r``; a right-to-left paragraph that is not centred stands at the right.
        strong: All of it is bold (the head of a table).
        colour: Token of the text colour.
    """

    def __init__(
        self,
        look: Look,
        ink: Ink,
        width: float,
        content: Styled,
        *,
        level: int = 0,
        align: str = "l",
        strong: bool = False,
        colour: str = "text",
    ) -> None:
        super().__init__(look, ink, width)
        self._formulas = InlineFormulas(look, content, level, max(width, look.em))
        self.waits = self._formulas.waits
        self._content, self._level, self._colour = self._formulas.content, level, colour
        self.length = len(content.text)
        shown = self._formulas.shown(displayable(content.text))
        self._units = Units(shown)
        shown = shown.removesuffix("\n")
        base = Style.BOLD if strong else Style.PLAIN
        self._layout = QTextLayout(shown.replace("\n", LINE_SEPARATOR), look.font(base, level))
        self._last = self._units.to_qt(len(shown))
        self._layout.setCacheEnabled(True)
        self._layout.setTextOption(_option(content.text, align))
        self._layout.setFormats(self._formats(base))
        self._break_lines(max(width, look.em))

    def _formats(self, base: Style) -> list[QTextLayout.FormatRange]:
        result = self._formulas.formats(self.look.font(base, self._level), self._units)
        for span in self._content.spans:
            if span.style & Style.MATH:
                continue
            one = QTextLayout.FormatRange()
            one.start, end = self._units.to_qt(span.start), self._units.to_qt(span.start + span.length)
            one.length = end - one.start
            one.format = self.look.format(span.style | base, self._level)
            result += self._room(span) if span.style & Style.CODE else []
            result.append(one)
        return result

    def _room(self, span: Span) -> list[QTextLayout.FormatRange]:
        """Wider spaces around inline code."""
        text, result = self._content.text, []
        for position in (span.start - 1, span.start + span.length):
            if 0 <= position < len(text) and text[position] == " ":
                one = QTextLayout.FormatRange()
                one.start, one.length = self._units.to_qt(position), 1
                one.format = self.look.space_by_code(self._level)
                result.append(one)
        return result

    def _break_lines(self, width: float) -> None:
        spacing = self.look.line * HEADING_SIZES[self._level] * (0.9 if self._level else 1.0)
        y = natural = 0.0
        self._tops: list[float] = []
        self._layout.beginLayout()
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(width)
            lead = (max(spacing, line.height()) - line.height()) / 2
            above, below = self._formulas.reach(line, self._units)
            above, below = max(line.ascent() + lead, above + 1), max(line.descent() + lead, below + 1)
            line.setPosition(QPointF(0, y + above - line.ascent()))
            natural = max(natural, line.naturalTextWidth())
            self._tops.append(y)
            y += above + below
        self._layout.endLayout()
        self.height, self.natural_width = round(y), natural
        first = self._layout.lineAt(0)
        self.baseline = first.y() + first.ascent()

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw the text, the pills behind inline code, and the selection."""
        self._paint_pills(painter)
        chosen: list[QTextLayout.FormatRange] = []
        if selection is not None and selection[0] < selection[1]:
            chosen = self._paint_selection(painter, *selection)
        painter.setPen(self.look.colour(self._colour))
        self._layout.draw(painter, QPointF(0, 0), chosen, clip)
        self._formulas.paint(painter, self._layout, self._units, self.look.colour(self._colour))

    def _paint_selection(self, painter: QPainter, start: int, end: int) -> list[QTextLayout.FormatRange]:
        """Fill whole lines behind the selected letters. Where directions mix, Qt has to: what it needs is returned."""
        colour = self.look.colour("selection")
        if not mixes_directions(self._content.text):
            for box in self.boxes(Span(start, end - start, Style.PLAIN)):
                number = self._line_number_at(box.center().y())
                painter.fillRect(QRectF(box.left(), self._tops[number], box.width(), self._line_height(number)), colour)
            return []
        chosen = QTextLayout.FormatRange()
        chosen.start = self._units.to_qt(start)
        chosen.length = self._units.to_qt(end) - chosen.start
        form = QTextCharFormat()
        form.setBackground(QBrush(colour))
        chosen.format = form
        return [chosen]

    def _paint_pills(self, painter: QPainter) -> None:
        boxes = [box for span in self._content.spans if span.style & Style.CODE for box in self.boxes(span)]
        if not boxes:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.ink.pill)
        for box in boxes:
            painter.drawRoundedRect(box.adjusted(-PILL_PADDING, -1, PILL_PADDING, 1), 4, 4)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def boxes(self, span: Span) -> list[QRectF]:
        """The rectangles that a run covers, one for each line."""
        start, end = self._units.to_qt(span.start), self._units.to_qt(span.start + span.length)
        result = []
        for number in range(self._line_number(start), self._line_number(max(start, end - 1)) + 1):
            line = self._layout.lineAt(number)
            low, high = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            if low < high:
                left, right = sorted((x_of(line, low), x_of(line, high)))
                result.append(QRectF(left, line.y(), right - left, line.height()))
        return result

    def _line_number(self, units: int) -> int:
        line = self._layout.lineForTextPosition(units)
        return line.lineNumber() if line.isValid() else 0

    def _line_number_at(self, y: float) -> int:
        return max(0, bisect_right(self._tops, y) - 1)

    def _line_height(self, number: int) -> float:
        bottom = self._tops[number + 1] if number + 1 < len(self._tops) else self.height
        return bottom - self._tops[number]

    def position_at(self, point: QPointF) -> int:
        """Character position nearest to ``point``."""
        line = self._layout.lineAt(self._line_number_at(point.y()))
        return min(self.length, self._units.from_qt(line.xToCursor(point.x())))

    def caret(self, position: int) -> QRectF:
        """Where a caret at ``position`` stands: the whole height of its line."""
        units = min(self._units.to_qt(position), self._last)
        number = self._line_number(units)
        line = self._layout.lineAt(number)
        return QRectF(x_of(line, units), self._tops[number], 1, self._line_height(number))

    def under(self, start: int, end: int) -> list[QRectF]:
        """Below the letters of each line, however much room a formula takes there."""
        result = []
        for box in self.boxes(Span(start, end - start, Style.PLAIN)):
            line = self._layout.lineAt(self._line_number_at(box.center().y()))
            low = line.y() + line.ascent() + min(line.descent(), self.look.body_metrics.descent()) - 1
            result.append(QRectF(box.left(), low, max(4.0, box.width()), LINE))
        return result

    def link_at(self, point: QPointF) -> str:
        """Address under ``point``, or an empty string."""
        for span in self._content.spans:
            if span.href and any(box.contains(point) for box in self.boxes(span)):
                return span.href
        return ""


def x_of(line: QTextLine, units: int) -> float:
    """Where UTF-16 unit number ``units`` begins. PySide returns the position with the unit, its stubs say otherwise."""
    found: Any = line.cursorToX(units)
    return float(found[0])


def _option(text: str, align: str) -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    right_to_left = is_right_to_left(text)
    option.setTextDirection(Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight)
    option.setAlignment(_ALIGNMENTS["r" if right_to_left and align == "l" else align])
    return option
