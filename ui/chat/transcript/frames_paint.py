"""Draws what a part stands in: bars of quotations; bullets, numbers and boxes of list items."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ui.chat.transcript.blocks import Part, is_mirrored
from ui.chat.transcript.layout import Placed
from ui.chat.transcript.message import Message
from ui.chat.transcript.scene import Scene


def paint_frames(painter: QPainter, scene: Scene, placed: Placed, message: Message, part: Part) -> None:
    """Quotation bars, and the bullets, numbers or boxes of the list items that begin here."""
    look = scene.layout.look
    x = scene.column_x + message.x
    above = message.part(placed.section - 1)
    gap = message.gap(placed.section)
    items: list[float] = []
    for depth, frame in enumerate(part.frames):
        if frame in "qt":
            top = placed.y + (0 if above is not None and goes_on(above, part, depth) else gap)
            painter.fillRect(QRectF(x, top, 3, placed.y + placed.height - top), look.colour("hairline"))
            x += look.quote_indent
        else:
            x += look.indent
            items.append(x)
    markers = (*part.outer_markers, part.marker)
    baseline = message.view(placed.section).baseline or look.baseline
    for place, (x, marker) in enumerate(zip(items[-len(markers) :], markers, strict=False)):
        line = QRectF(x - look.indent, placed.y + gap, look.indent - 0.5 * look.em, look.line)
        if is_mirrored(part):
            right = scene.origin(placed).x() + message.part_width(part) + 0.5 * look.em
            outward = (len(markers) - 1 - place) * look.indent
            line.moveRight(right + outward + _marker_width(scene, marker))
        if marker:
            _paint_marker(painter, scene, line, marker, baseline)


def goes_on(above: Part, part: Part, depth: int) -> bool:
    """Whether the frame of ``part`` at ``depth`` is the same one that ``above`` stands in."""
    return depth < len(part.frames) - part.fresh and above.frames[: depth + 1] == part.frames[: depth + 1]


def _marker_width(scene: Scene, marker: str) -> float:
    look = scene.layout.look
    if marker.startswith("["):
        return round(look.em * 0.95)
    return look.em * 0.5 if marker == "•" else look.body_metrics.horizontalAdvance(marker)


def _paint_marker(painter: QPainter, scene: Scene, line: QRectF, marker: str, baseline: float) -> None:
    look = scene.layout.look
    if marker.startswith("["):
        _paint_box(painter, scene, line, ticked=marker == "[x]")
    elif marker == "•":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("muted"))
        radius = max(2.0, look.em * 0.17)
        painter.drawEllipse(
            QPointF(line.right() - radius - look.em * 0.15, line.top() + baseline - look.body_metrics.xHeight() / 2),
            radius,
            radius,
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
    else:
        painter.setFont(look.body)
        painter.setPen(look.colour("muted"))
        x = line.right() - look.body_metrics.horizontalAdvance(marker)
        painter.drawText(QPointF(x, line.top() + baseline), marker)


def _paint_box(painter: QPainter, scene: Scene, line: QRectF, *, ticked: bool) -> None:
    look = scene.layout.look
    size = round(look.em * 0.95)
    box = QRectF(line.right() - size, round(line.center().y() - size / 2), size, size)
    painter.setPen(QPen(look.colour("accent" if ticked else "outline"), 1.4))
    painter.setBrush(look.colour("accent") if ticked else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if ticked:
        painter.setPen(QPen(look.colour("on_accent"), max(1.6, size / 8)))
        middle = QPointF(box.left() + 0.42 * size, box.top() + 0.72 * size)
        painter.drawLine(QPointF(box.left() + 0.22 * size, box.top() + 0.52 * size), middle)
        painter.drawLine(middle, QPointF(box.left() + 0.78 * size, box.top() + 0.3 * size))
