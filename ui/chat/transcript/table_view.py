"""Some rows of a table: hairlines between rows, no box; wide ones scroll sideways by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ui.chat.transcript.blocks import Styled, Table, table_lines
from ui.chat.transcript.cutting import cut
from ui.chat.transcript.inline_formulas import InlineFormulas
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.part_view import Range
from ui.chat.transcript.sideways import BlockState, SidewaysView
from ui.chat.transcript.text_view import TextView
from ui.theme import SPACE_S

LONGEST_CELL = 1000
"""Characters of a cell that are shown; all are copied."""
WIDEST_CELL_EMS = 26.0
NARROWEST_CELL_EMS = 4.0


class _Cell:
    """One cell; it is laid out when it is first seen, unless its height cannot be told otherwise.

    ``start`` is the position of its first character in the text of the part.
    """

    __slots__ = ("_make", "_view", "height", "length", "start", "width", "x", "y")

    def __init__(self, make: Callable[[], TextView], box: QRectF, start: int, length: int) -> None:
        self._make, self._view = make, None if box.height() else make()
        self.x, self.y, self.width = box.x(), box.y(), box.width()
        self.height = box.height() if self._view is None else self._view.height
        self.start, self.length = start, length

    @property
    def waits(self) -> bool:
        """Whether a formula of it is being drawn."""
        return self._view is not None and self._view.waits

    @property
    def view(self) -> TextView:
        """The laid-out text."""
        if self._view is None:
            self._view = self._make()
        return self._view


def column_widths(look: Look, table: Table, available: float) -> tuple[float, ...]:
    """Widths for all slices of a table, measured on the first one: as wide as the text wants, within limits.

    Columns shrink to fit ``available`` as long as each keeps its minimum; then the table becomes wider than the view.
    """
    padding = 2 * look.cell_padding[0]
    wanted = [_wanted(look, cell, strong=True) for cell in table.header]
    for row in table.rows:
        for index, cell in enumerate(row[: len(wanted)]):
            wanted[index] = max(wanted[index], _wanted(look, cell, strong=bool(cell.spans)))
    most = WIDEST_CELL_EMS * look.em
    natural = [min(width, most * 4) + padding + 1 for width in wanted]
    if sum(natural) <= available:
        return tuple(natural)
    least = [min(width, max(NARROWEST_CELL_EMS * look.em, 0.45 * most) + padding) for width in natural]
    if sum(least) >= available:
        return tuple(min(width, most) for width in natural) if len(natural) > 6 else tuple(least)
    spare = available - sum(least)
    extra = sum(natural) - sum(least)
    return tuple(low + (high - low) * spare / extra for low, high in zip(least, natural, strict=True))


def _wanted(look: Look, cell: Styled, *, strong: bool) -> float:
    """Width of a cell's longest line."""
    metrics = look.bold_metrics if strong else look.body_metrics
    formulas = InlineFormulas(look, cell, 0, WIDEST_CELL_EMS * 4 * look.em)
    return metrics.horizontalAdvance(_longest_line(formulas.without(cell.text))) + formulas.width


def _longest_line(text: str) -> str:
    line = max(text[:LONGEST_CELL].split("\n"), key=len)
    return line[:200]


class TableView(SidewaysView):
    """A slice of a table.

    Args:
        widths: Of all columns, the same for each slice.
        last: No slice follows.
    """

    def __init__(
        self, look: Look, ink: Ink, width: float, part: Table, widths: Sequence[float], state: BlockState, *, last: bool
    ) -> None:
        super().__init__(look, ink, width, state, sum(widths), last=last)
        self._part = part
        self._cells: list[_Cell] = []
        self._lines: list[float] = []
        self._has_head = part.first_row == 0
        position, y = 0, 0.0
        for number, row in enumerate(table_lines(part)):
            position, y = self._add_row(row, widths, position, y, strong=self._has_head and number == 0)
            self._lines.append(y)
        self.length = max(0, position - 1)
        self.waits = any(cell.waits for cell in self._cells)
        self.height = round(y) + (look.px(SPACE_S) if last and self.overflow() > 0 else 0)
        self.scroll_to(state.scroll)

    def _add_row(
        self, row: Sequence[Styled], widths: Sequence[float], position: int, y: float, *, strong: bool
    ) -> tuple[int, float]:
        horizontal, vertical = self.look.cell_padding
        height, x = float(self.look.line), 0.0
        for index, cell in enumerate(row):
            wide = widths[index] if index < len(widths) else self.look.em * NARROWEST_CELL_EMS
            align = self._part.aligns[index : index + 1] or "l"
            shown = cut(cell, 0, LONGEST_CELL) if len(cell.text) > LONGEST_CELL else cell
            room = wide - 2 * horizontal
            make = partial(TextView, self.look, self.ink, room, shown, align=align, strong=strong)
            box = QRectF(x + horizontal, y + vertical, room, self._known_height(shown, room, strong=strong))
            self._cells.append(_Cell(make, box, position, len(cell.text)))
            position += len(cell.text) + 1
            height = max(height, self._cells[-1].height)
            x += wide
        return position, y + height + 2 * vertical

    def _known_height(self, cell: Styled, width: float, *, strong: bool) -> float:
        """The height of a cell of one line of ordinary letters; 0 when only laying it out tells."""
        if cell.spans or not cell.text.isascii() or "\n" in cell.text:
            return 0.0
        metrics = self.look.bold_metrics if strong else self.look.body_metrics
        return float(self.look.line) if metrics.horizontalAdvance(cell.text) <= width else 0.0

    def paint(self, painter: QPainter, clip: QRectF, selection: Range | None) -> None:
        """Draw the cells in ``clip`` and the lines between rows."""
        painter.save()
        painter.setClipRect(QRectF(0, 0, self.width, self.height), Qt.ClipOperation.IntersectClip)
        shift = self.state.scroll
        for cell in self._cells:
            box = QRectF(cell.x - shift, cell.y, cell.width, cell.height)
            if not box.intersects(clip) or box.right() < 0 or box.left() > self.width:
                continue
            painter.translate(box.topLeft())
            cell.view.paint(painter, clip.translated(-box.topLeft()), _within(cell, selection))
            painter.translate(-box.topLeft())
        self._paint_lines(painter)
        painter.restore()
        self.paint_bar(painter)

    def _paint_lines(self, painter: QPainter) -> None:
        right = min(self.width, self._content_width)
        for number, y in enumerate(self._lines):
            head = self._has_head and number == 0
            if self._last and number == len(self._lines) - 1 and not head:
                continue
            painter.setPen(QPen(self.look.colour("outline" if head else "hairline"), 1))
            painter.drawLine(QPointF(0, y - 0.5), QPointF(right, y - 0.5))

    def _nearest(self, point: QPointF) -> _Cell:
        """The cell under or next to ``point``."""

        def distance(cell: _Cell) -> tuple[float, float]:
            below = max(cell.y - point.y(), point.y() - cell.y - cell.height, 0.0)
            left = cell.x - self.state.scroll
            return below, max(left - point.x(), point.x() - left - cell.width, 0.0)

        return min(self._cells, key=distance)

    def position_at(self, point: QPointF) -> int:
        """Character position nearest to ``point``."""
        if not self._cells:
            return 0
        cell = self._nearest(point)
        inside = cell.view.position_at(point - QPointF(cell.x - self.state.scroll, cell.y))
        return cell.start + min(cell.length, inside)

    def caret(self, position: int) -> QRectF:
        """Where a caret at ``position`` stands."""
        cell = next((c for c in reversed(self._cells) if c.start <= position), None)
        if cell is None:
            return QRectF(0, 0, 1, self.height)
        box = cell.view.caret(min(position - cell.start, cell.view.length))
        return box.translated(cell.x - self.state.scroll, cell.y)

    def under(self, start: int, end: int) -> list[QRectF]:
        """In each cell that has some of these characters."""
        result = []
        for cell in self._cells:
            inside = _within(cell, (start, end))
            boxes = cell.view.under(*inside) if inside is not None else []
            result += [box.translated(cell.x - self.state.scroll, cell.y) for box in boxes]
        return result

    def link_at(self, point: QPointF) -> str:
        """Address under ``point``, or an empty string."""
        if not self._cells:
            return ""
        cell = self._nearest(point)
        return cell.view.link_at(point - QPointF(cell.x - self.state.scroll, cell.y))


def _within(cell: _Cell, selection: Range | None) -> Range | None:
    if selection is None:
        return None
    low, high = max(0, selection[0] - cell.start), min(cell.length, selection[1] - cell.start)
    return (low, min(high, cell.view.length)) if low < high else None
