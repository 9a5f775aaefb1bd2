"""From points in the view to what is there, and back."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF

from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.layout import Placed
from ui.chat.transcript.paint import head_shift
from ui.chat.transcript.part_view import PartView
from ui.chat.transcript.scene import Scene
from ui.chat.transcript.selection import Spot
from ui.chat.transcript.sideways import SidewaysView

Sideways = CodeView | SidewaysView
"""Parts that scroll sideways by themselves."""


class Hit(NamedTuple):
    """A laid-out part under a point, and the point in its own coordinates."""

    placed: Placed
    view: PartView
    inside: QPointF

    @property
    def on_text(self) -> bool:
        """Whether the point is on the part itself and not beside it."""
        return -4 <= self.inside.x() <= self.view.width + 4 and 0 <= self.inside.y() <= self.view.height


def placed_at(scene: Scene, y: float) -> Placed | None:
    """The section at height ``y``, or the nearest one."""
    placed = scene.layout.placed
    if not placed:
        return None
    return next((one for one in placed if y < one.y + one.height), placed[-1])


def hit(scene: Scene, point: QPointF) -> Hit | None:
    """The part at the height of ``point``; None at heads and feet."""
    placed = placed_at(scene, point.y())
    if placed is None or scene.layout.message(placed.row).part(placed.section) is None:
        return None
    view = scene.layout.message(placed.row).view(placed.section)
    return Hit(placed, view, point - scene.origin(placed))


def spot_at(scene: Scene, point: QPointF) -> Spot | None:
    """Where a caret goes for a click at ``point``."""
    placed = placed_at(scene, point.y())
    if placed is None:
        return None
    found = hit(scene, point)
    if found is None:
        return placed.row, placed.section, 0
    if isinstance(found.view, CodeView) and found.inside.y() < found.view.head:
        return placed.row, placed.section, 0
    return placed.row, placed.section, found.view.position_at(found.inside)


def link_at(scene: Scene, point: QPointF) -> str:
    """Address under ``point``, or an empty string."""
    found = hit(scene, point)
    return found.view.link_at(found.inside) if found else ""


def sideways_at(scene: Scene, point: QPointF) -> Sideways | None:
    """The part under ``point`` that can be scrolled sideways."""
    found = hit(scene, point)
    if found and found.on_text and isinstance(found.view, Sideways) and found.view.overflow() > 0:
        return found.view
    return None


def bar_at(scene: Scene, point: QPointF) -> Sideways | None:
    """The part whose sideways bar is under ``point``."""
    view, found = sideways_at(scene, point), hit(scene, point)
    if view is None or found is None or view.bar().isEmpty():
        return None
    strip = QRectF(0, view.bar().top() - 8, view.width, 20)
    return view if strip.contains(found.inside) else None


def on_sticky_head(scene: Scene, point: QPointF) -> bool:
    """Whether ``point`` is on the head of a code block, wherever it is drawn."""
    found = hit(scene, point)
    if found is None or not isinstance(found.view, CodeView):
        return False
    top = head_shift(found.view, scene.origin(found.placed).y())
    return top <= found.inside.y() < top + found.view.head


def caret_rect(scene: Scene, spot: Spot) -> QRectF | None:
    """Where a caret at ``spot`` is drawn; None when its section is not in view."""
    placed = next((one for one in scene.layout.placed if (one.row, one.section) == spot[:2]), None)
    if placed is None:
        return None
    message = scene.layout.message(placed.row)
    if message.part(placed.section) is None:
        return QRectF(scene.column_x, placed.y, 1, placed.height)
    view = message.view(placed.section)
    return view.caret(min(spot[2], view.length)).translated(scene.origin(placed))


def row_rect(scene: Scene, row: int) -> QRect:
    """Where message number ``row`` is in the view, as far as it is placed; empty when it is not."""
    seen = [placed for placed in scene.layout.placed if placed.row == row]
    if not seen:
        return QRect()
    top, bottom = int(seen[0].y), int(seen[-1].y + seen[-1].height)
    return QRect(int(scene.column_x), top, int(scene.layout.column), bottom - top)


def bring_sideways(view: Sideways, position: int) -> None:
    """Scroll a block so that a character of it is well in sight."""
    if view.overflow() > 0:
        x = view.caret(position).left()
        if not 0.1 * view.width <= x <= 0.9 * view.width:
            view.scroll_to(view.state.scroll + x - view.width / 2)
