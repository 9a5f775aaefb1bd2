"""What is drawn, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF

from ui.chat.transcript.layout import Layout, Placed
from ui.chat.transcript.part_view import Range
from ui.chat.transcript.selection import Selection


@dataclass(slots=True)
class Scene:
    """What is drawn: the layout, the column's left edge, the selection and the message with the keyboard focus."""

    layout: Layout
    column_x: float
    selection: Selection
    ring: int | None = None
    left_out: int = 0
    """So many messages at the beginning do not reach the model any more."""
    marks: Callable[[int, int], list[Range]] | None = None
    """What was found in a section (row, section)."""

    def origin(self, placed: Placed) -> QPointF:
        """Where the part of a section begins in the view."""
        message = self.layout.message(placed.row)
        part = message.part(placed.section)
        x = self.column_x + message.x + (message.part_x(part) if part else 0.0)
        return QPointF(x, placed.y + message.gap(placed.section))
