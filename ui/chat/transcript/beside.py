"""Where the buttons of a user's message stand: in a row left of its bubble, level with its last line. No widgets."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize

from ui.chat.transcript.look import Look


def fitting(widths: Sequence[int], room: int) -> int:
    """How many of the buttons, from the first on, go into ``room`` pixels; the menu has what the others do."""
    used = 0
    for count, width in enumerate(widths):
        used += width
        if used > room:
            return count
    return len(widths)


def room(look: Look, bubble_left: float) -> int:
    """Pixels from the left edge of the view to where the row ends, a little before the bubble."""
    return int(bubble_left) - look.px(4)


def corners(look: Look, bubble_left: float, text_bottom: float, sizes: Sequence[QSize]) -> list[QPoint]:
    """The left top corners of buttons of these sizes, from left to right.

    Args:
        look: Gives the height of a line.
        bubble_left: Left edge of the bubble in the view.
        text_bottom: Bottom of the bubble's last line in the view.
        sizes: Of the buttons, from left to right.
    """
    x = room(look, bubble_left) - sum(size.width() for size in sizes)
    middle = text_bottom - look.line / 2
    result: list[QPoint] = []
    for size in sizes:
        result.append(QPoint(x, round(middle - size.height() / 2)))
        x += size.width()
    return result
