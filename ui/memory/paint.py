"""Painting of bars and of the patterns that tell owners apart without colour.

The model is solid; other programs are striped, in another direction for each kind of memory; file pages of the
model are dotted; what is free is hatched finely.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from ui.memory import words
from ui.memory.shares import Bar, Owner, Region, Segment
from ui.theme import Tokens

RADIUS = 4.0
GAP = 1.0
LEAST = 2.0
"""A segment that is there is at least so wide, pixels."""

PADDING = 6.0

LEAN = {Region.VRAM: 1, Region.GTT: 0, Region.RAM: -1}
"""Direction of the stripes."""


def colour_of(region: Region, tokens: Tokens) -> QColor:
    """The colour of a kind of memory."""
    return QColor({Region.VRAM: tokens.vram, Region.GTT: tokens.gtt, Region.RAM: tokens.ram}[region])


def spans(bar: Bar, width: float) -> list[tuple[Segment, float, float]]:
    """Each segment with its left edge and width; they fill ``width``. Small ones are widened to be seen."""
    if not bar.segments or bar.total <= 0 or width <= 0:
        return []
    wanted = [max(LEAST, width * segment.size / bar.total) for segment in bar.segments]
    surplus = sum(wanted) - width
    large = wanted.index(max(wanted))
    wanted[large] = max(LEAST, wanted[large] - surplus)
    placed = []
    x = 0.0
    for segment, own in zip(bar.segments, wanted, strict=True):
        placed.append((segment, x, own))
        x += own
    return placed


def paint_bar(painter: QPainter, box: QRectF, bar: Bar, tokens: Tokens) -> None:
    """Draw ``bar`` into ``box``, with words inside the segments that are wide enough."""
    outline = QPainterPath()
    outline.addRoundedRect(box, RADIUS, RADIUS)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillPath(outline, QColor(tokens.raised))
    painter.setClipPath(outline)
    last = None
    for segment, x, width in spans(bar, box.width()):
        gap = 0.0 if last is None else GAP * (2 if last.region is not segment.region else 1)
        part = QRectF(box.x() + x + gap, box.y(), max(0.5, width - gap), box.height())
        painter.fillRect(QRectF(part.x() - gap, part.y(), gap, part.height()), QColor(tokens.background))
        paint_pattern(painter, part, segment.region, segment.owner, tokens)
        _paint_word(painter, part, segment, tokens)
        last = segment
    painter.setClipping(False)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(tokens.outline), 1, Qt.PenStyle.DotLine if not bar.segments else Qt.PenStyle.SolidLine))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    painter.restore()


def paint_pattern(painter: QPainter, box: QRectF, region: Region, owner: Owner, tokens: Tokens) -> None:
    """Fill ``box`` with the look of one owner in one kind of memory."""
    colour = colour_of(region, tokens)
    if owner is Owner.MODEL:
        painter.fillRect(box, colour)
        return
    base = QColor(tokens.raised)
    painter.fillRect(box, base)
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    if owner is Owner.OTHER:
        tint = QColor(colour)
        tint.setAlphaF(0.25)
        painter.fillRect(box, tint)
        _stripes(painter, box, QPen(colour, 1.6), 5.0, LEAN[region])
    elif owner is Owner.MAPPED:
        _dots(painter, box, colour)
    else:
        faint = QColor(colour)
        faint.setAlphaF(0.28)
        _stripes(painter, box, QPen(faint, 1.0), 8.0, LEAN[region] or 1)
    painter.restore()


def _stripes(painter: QPainter, box: QRectF, pen: QPen, step: float, lean: int) -> None:
    """Lines that lean to the right (1), stand (0) or lean to the left (-1), in step over neighbouring boxes."""
    painter.setPen(pen)
    height = box.height()
    x = (box.x() - height) // step * step
    while x < box.right() + height:
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x + lean * height, box.top()))
        x += step


def _dots(painter: QPainter, box: QRectF, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    step, row = 5.0, 0
    y = box.y() + step / 2
    while y < box.bottom():
        x = box.x() + step / 2 + (step / 2 if row % 2 else 0)
        while x < box.right():
            painter.drawEllipse(QPointF(x, y), 1.0, 1.0)
            x += step
        y, row = y + step, row + 1


def _paint_word(painter: QPainter, box: QRectF, segment: Segment, tokens: Tokens) -> None:
    word = words.owner_word(segment.owner)
    width = painter.fontMetrics().horizontalAdvance(word)
    if width + 2 * PADDING + 4 > box.width():
        return
    if segment.owner is Owner.MODEL:
        painter.setPen(QColor(tokens.on_accent))
    else:
        pill = QRectF(0, 0, width + PADDING, box.height() - 4)
        pill.moveCenter(box.center())
        _pill(painter, pill, tokens)
        painter.setPen(QColor(tokens.text if segment.owner is not Owner.FREE else tokens.muted))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), word)


def _pill(painter: QPainter, box: QRectF, tokens: Tokens) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens.raised))
    painter.drawRoundedRect(box, 3, 3)
