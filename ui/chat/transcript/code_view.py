"""A code block: fixed pitch, coloured, only the rows that are seen are laid out."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen, QTextCharFormat, QTextLayout, QTextOption

from ui.chat.transcript.blocks import Code
from ui.chat.transcript.budget import Tired
from ui.chat.transcript.code_rows import CodeRows, Row
from ui.chat.transcript.highlight import Highlighter
from ui.chat.transcript.look import TAB_COLUMNS, TOKEN_COLOURS, Ink, Look
from ui.chat.transcript.part_view import PartView, Range
from ui.chat.transcript.qt_text import (
    MarkedUnits,
    Units,
    displayable,
    mixes_directions,
    runs_to_isolate,
    with_marks,
)
from ui.chat.transcript.sideways import BlockState
from ui.chat.transcript.text_view import x_of
from ui.theme import RADIUS, SPACE_M, SPACE_S, SPACE_XS

_KEPT_ROWS = 256


class CodeView(PartView):
    """One fenced block in its own frame, with a head for the language and the buttons."""

    def __init__(self, look: Look, ink: Ink, width: float, part: Code, state: BlockState) -> None:
        super().__init__(look, ink, width)
        self.state = state
        self._padding = look.px(SPACE_M + SPACE_XS)
        self.head = float(look.target)
        self.language = part.language
        self.highlighter = Highlighter(part.language)
        columns = int((width - 2 * self._padding) / look.code_column)
        self._rows = CodeRows(max(8, columns) if state.wrap else None)
        self._layouts: dict[int, tuple[QTextLayout, Units | MarkedUnits]] = {}
        self.natural_width = width
        self.set_part(part)

    def set_part(self, part: Code) -> None:
        """Take the block as it is now."""
        first = self._rows.set_code(part.code)
        self._code = part.code
        self.length = len(part.code)
        self.language = part.language
        self._forget(first)
        self.highlighter.set_code(part.code)
        bottom = self.look.px(SPACE_M) if self.overflow() <= 0 else self.look.px(SPACE_M) + self.look.px(SPACE_XS)
        self.height = self.head + len(self._rows.rows) * self.look.code_line + bottom
        self.scroll_to(self.state.scroll)

    def colour_on(self, tired: Tired) -> bool:
        """Go on colouring. True: something to be seen changed."""
        changed = self.highlighter.advance(tired)
        if changed is None:
            return False
        for row in [row for row in self._layouts if changed[0] <= self._rows.rows[row].line <= changed[1]]:
            del self._layouts[row]
        return True

    def overflow(self) -> float:
        """By how much the widest line is wider than the frame, pixels."""
        return max(0.0, self._rows.widest * self.look.code_column + 2 * self._padding - self.width)

    def scroll_to(self, offset: float) -> bool:
        """Scroll sideways. True: it moved."""
        offset = min(max(0.0, offset), self.overflow())
        moved = offset != self.state.scroll
        self.state.scroll = offset
        return moved

    def _forget(self, first: int) -> None:
        for row in [row for row in self._layouts if row >= first]:
            del self._layouts[row]

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw frame, language and the rows in ``clip``."""
        frame = QRectF(0.5, 0.5, self.width - 1, self.height - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.ink.code_ground)
        painter.drawRoundedRect(frame, RADIUS + 2, RADIUS + 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.save()
        body = QRectF(1, self.head, self.width - 2, self.height - self.head)
        painter.setClipRect(body, Qt.ClipOperation.IntersectClip)
        self._paint_rows(painter, clip, selection)
        painter.restore()
        self._paint_bar(painter)

    def paint_head(self, painter: QPainter, y: float) -> None:
        """Draw the head at ``y``: where it belongs, or lower while the block's own top is out of sight."""
        box = QRectF(0, y, self.width, self.head)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.ink.code_ground)
        painter.drawRoundedRect(box, RADIUS + 2, RADIUS + 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if y > 0:
            painter.setPen(QPen(self.look.colour("hairline"), 1))
            painter.drawLine(QPointF(0, box.bottom()), QPointF(self.width, box.bottom()))
        painter.setFont(self.look.small)
        painter.setPen(self.look.colour("muted"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(box.adjusted(self._padding, 0, 0, 0), flags, displayable(self.language))

    def _paint_rows(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        line = self.look.code_line
        first = max(0, int((clip.top() - self.head) / line))
        last = min(len(self._rows.rows) - 1, int((clip.bottom() - self.head) / line))
        painter.setPen(self.look.colour("text"))
        for number in range(first, last + 1):
            layout, _ = self._layout(number)
            place = QPointF(self._padding - self.state.scroll, self.head + number * line)
            if selection is not None:
                self._paint_selection(painter, number, place, selection)
            layout.draw(painter, place)
        self._trim(first, last)

    def _ends_line(self, number: int) -> bool:
        rows = self._rows.rows
        return number + 1 < len(rows) and rows[number + 1].line != rows[number].line

    def _paint_selection(self, painter: QPainter, number: int, place: QPointF, selection: Range) -> None:
        """Fill the selected columns of a row; a selected line end is a bit of ground behind the line."""
        row = self._rows.rows[number]
        low, high = max(selection[0], row.start), min(selection[1], row.end)
        if low > high:
            return
        layout, units = self._layout(number)
        line = layout.lineAt(0)
        left, right = (x_of(line, units.to_qt(position - row.start)) for position in (low, high))
        if selection[0] <= row.end < selection[1] and self._ends_line(number):
            right += self.look.code_column * 0.6
        box = QRectF(place.x() + left, place.y(), right - left, self.look.code_line)
        painter.fillRect(box, self.look.colour("selection"))

    def _layout(self, number: int) -> tuple[QTextLayout, Units | MarkedUnits]:
        known = self._layouts.get(number)
        if known:
            return known
        row = self._rows.rows[number]
        text = self._code[row.start : row.end]
        marks = runs_to_isolate(text) if mixes_directions(text) else []
        units = MarkedUnits(text, marks) if marks else Units(text)
        layout = QTextLayout(with_marks(displayable(text), marks), self.look.code)
        layout.setCacheEnabled(True)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setTabStopDistance(TAB_COLUMNS * self.look.code_column)
        layout.setTextOption(option)
        layout.setFormats(self._formats(row, units))
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(1e6)
        line.setPosition(QPointF(0, (self.look.code_line - line.height()) / 2))
        layout.endLayout()
        self._layouts[number] = (layout, units)
        return self._layouts[number]

    def _formats(self, row: Row, units: Units | MarkedUnits) -> list[QTextLayout.FormatRange]:
        shift = row.start - row.line_start
        result = []
        for start, length, colour in self.highlighter.runs(row.line):
            low, high = max(0, start - shift), min(row.end - row.start, start + length - shift)
            if low < high:
                form = QTextCharFormat()
                form.setForeground(QBrush(self.look.colour(TOKEN_COLOURS[colour])))
                result.append(_range(units, low, high, form))
        return result

    def _trim(self, first: int, last: int) -> None:
        if len(self._layouts) > _KEPT_ROWS + (last - first):
            self._layouts = {n: one for n, one in self._layouts.items() if first <= n <= last}

    def bar(self) -> QRectF:
        """The handle of the sideways scroll bar; empty when all is seen."""
        overflow = self.overflow()
        if overflow <= 0:
            return QRectF()
        room = self.width - 2 * self._padding
        length = max(32.0, room * self.width / (self.width + overflow))
        x = self._padding + (room - length) * self.state.scroll / overflow
        return QRectF(x, self.height - self.look.px(SPACE_S), length, 4)

    def _paint_bar(self, painter: QPainter) -> None:
        handle = self.bar()
        if handle.isEmpty():
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.look.colour("outline"))
        painter.drawRoundedRect(handle, 2, 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def position_at(self, point: QPointF) -> int:
        """Character position nearest to ``point``."""
        rows = self._rows.rows
        number = min(len(rows) - 1, max(0, int((point.y() - self.head) // self.look.code_line)))
        layout, units = self._layout(number)
        x = point.x() - self._padding + self.state.scroll
        row = rows[number]
        return min(row.end, row.start + units.from_qt(layout.lineAt(0).xToCursor(x)))

    def caret(self, position: int) -> QRectF:
        """Where a caret at ``position`` stands."""
        number = self._rows.index_of(position)
        layout, units = self._layout(number)
        x = x_of(layout.lineAt(0), units.to_qt(position - self._rows.rows[number].start))
        left = x + self._padding - self.state.scroll
        return QRectF(left, self.head + number * self.look.code_line, 1, self.look.code_line)


def _range(units: Units | MarkedUnits, start: int, end: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    result = QTextLayout.FormatRange()
    result.start = units.to_qt(start)
    result.length = units.to_qt(end) - result.start
    result.format = form
    return result
