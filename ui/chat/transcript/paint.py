"""Draws what the layout has placed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ui.chat.transcript import versions
from ui.chat.transcript.blocks import Part, ThoughtHead
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.frames_paint import paint_frames
from ui.chat.transcript.layout import Placed
from ui.chat.transcript.message import Message
from ui.chat.transcript.notes import Note
from ui.chat.transcript.part_view import LINE, PartView, Range
from ui.chat.transcript.row import is_open
from ui.chat.transcript.scene import Scene
from ui.theme import RADIUS_CARD, SPACE_M

RING = 2
LEFT_OUT = 0.65
"""Opacity of messages that do not reach the model: grey, with a contrast of text of more than 4.5."""


def paint(painter: QPainter, scene: Scene, clip: QRectF) -> None:
    """Draw all placed sections that meet ``clip``."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    bubbles: set[int] = set()
    for placed in scene.layout.placed:
        if scene.layout.message(placed.row).user and placed.row not in bubbles:
            bubbles.add(placed.row)
            _paint_bubble(painter, scene, placed)
        painter.setOpacity(LEFT_OUT if placed.row < scene.left_out else 1.0)
        if placed.y + placed.height >= clip.top() and placed.y <= clip.bottom():
            _paint_section(painter, scene, placed, clip)
    painter.setOpacity(1.0)
    if scene.ring is not None:
        _paint_ring(painter, scene, scene.ring)


def _paint_bubble(painter: QPainter, scene: Scene, first: Placed) -> None:
    """The ground of a user's message; what of it is out of sight is taken from the heights."""
    layout, message = scene.layout, scene.layout.message(first.row)
    horizontal, vertical = layout.look.bubble_padding
    if not message.parts:
        return
    start = first.y - message.heights.top(first.section)
    top = start + message.heights[0] - vertical
    bottom = start + message.heights.top(message.foot) + vertical
    top, bottom = max(top, -4.0 * RADIUS_CARD), min(bottom, layout.view_height + 4.0 * RADIUS_CARD)
    box = QRectF(scene.column_x + message.x - horizontal, top, message.width + 2 * horizontal, bottom - top)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(message.ink.ground)
    painter.drawRoundedRect(box, RADIUS_CARD, RADIUS_CARD)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_section(painter: QPainter, scene: Scene, placed: Placed, clip: QRectF) -> None:
    message = scene.layout.message(placed.row)
    if placed.section == 0:
        _paint_head(painter, scene, placed, message)
    elif placed.section == message.foot:
        _paint_foot(painter, scene, placed, message)
    elif (part := message.part(placed.section)) is not None:
        _paint_part(painter, scene, placed, clip, message, part)


def _paint_head(painter: QPainter, scene: Scene, placed: Placed, message: Message) -> None:
    look = scene.layout.look
    bottom = look.px(6) + (look.bubble_padding[1] if message.user else 0)
    box = QRectF(scene.column_x, placed.y, scene.layout.column, placed.height - bottom)
    side = Qt.AlignmentFlag.AlignRight if message.user else Qt.AlignmentFlag.AlignLeft
    painter.setFont(look.author)
    painter.setPen(look.colour("muted" if message.user or message.row.stands_for else "text"))
    name = look.small_metrics.elidedText(message.row.author, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignBottom | side | Qt.TextFlag.TextSingleLine, name)


def _paint_foot(painter: QPainter, scene: Scene, placed: Placed, message: Message) -> None:
    look, row = scene.layout.look, message.row
    if message.user and row.versions < 2:
        return
    box = QRectF(scene.column_x, placed.y + versions.foot_top(look, row), scene.layout.column, look.target)
    painter.setFont(look.small)
    painter.setPen(look.colour("muted"))
    controlled = versions.can_change(scene.layout.rows, row)
    if controlled:
        place = versions.places(look, row, scene.layout.column)
        between = QRectF(box.left() + place.words, box.top(), place.on - place.words, box.height())
        painter.drawText(between, Qt.AlignmentFlag.AlignCenter, versions.words_of(row))
    if message.user and controlled:
        return
    words = message.words.foot(row, version=not controlled)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)


def _paint_part(painter: QPainter, scene: Scene, placed: Placed, clip: QRectF, message: Message, part: Part) -> None:
    origin = scene.origin(placed)
    paint_frames(painter, scene, placed, message, part)
    view = message.view(placed.section)
    painter.save()
    painter.translate(origin)
    inside = clip.translated(-origin)
    view.paint(painter, inside, scene.selection.range_in(placed.row, placed.section, view.length))
    if scene.marks is not None:
        _paint_marks(painter, view, scene.marks(placed.row, placed.section))
    if isinstance(view, CodeView):
        view.paint_head(painter, head_shift(view, origin.y()))
    elif is_open(message.row) and placed.section == message.foot - 1 and waits(part):
        _paint_caret(painter, scene, view.caret(view.length))
    painter.restore()


def _paint_marks(painter: QPainter, view: PartView, marks: Sequence[Range]) -> None:
    """Underline what was found, so that it is seen on any ground; the chosen one is selected besides."""
    seen = QRectF(0, 0, view.width, view.height + LINE)
    for start, end in marks:
        for box in view.under(start, end):
            painter.fillRect(box.intersected(seen), view.look.colour("accent"))


def head_shift(view: CodeView, top: float) -> float:
    """How far below its place the head of a code block is drawn, so that it stays in sight while code is."""
    return min(max(0.0, -top), max(0.0, view.height - view.head - view.look.code_line))


def waits(part: Part) -> bool:
    """Whether the next word may come right behind ``part``."""
    return not isinstance(part, Note | ThoughtHead) or (isinstance(part, Note) and not part.text)


def _paint_caret(painter: QPainter, scene: Scene, place: QRectF) -> None:
    """A calm mark where the next word will come."""
    look = scene.layout.look
    height = round(look.em * 1.05)
    box = QRectF(place.left() + 3, place.center().y() - height / 2, max(2.0, look.em * 0.45), height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.colour("accent"))
    painter.drawRoundedRect(box, 2, 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_ring(painter: QPainter, scene: Scene, row: int) -> None:
    """Around the message that has the keyboard."""
    seen = [placed for placed in scene.layout.placed if placed.row == row]
    if not seen:
        return
    look, message = scene.layout.look, scene.layout.message(row)
    start = seen[0].y - message.heights.top(seen[0].section)
    top = start + look.message_gap - look.px(6)
    bottom = start + message.heights.total
    top, bottom = max(top, -20.0), min(bottom, scene.layout.view_height + 20.0)
    margin = SPACE_M
    painter.setPen(QPen(look.colour("focus"), RING))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    box = QRectF(scene.column_x - margin, top, scene.layout.column + 2 * margin, bottom - top)
    painter.drawRoundedRect(box, RADIUS_CARD, RADIUS_CARD)
