"""Painting of one bar of the memory page."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from ui.memory import page_words as words
from ui.memory.blocks import PageBar
from ui.memory.owners import Part, PartOwner
from ui.memory.paint import PADDING, RADIUS, colour_of
from ui.memory.patterns import SOLID, Patterns
from ui.memory.shares import Region
from ui.memory.words import number
from ui.theme import Tokens

LEAST = 2.0
"""A part that is there is at least so wide, pixels."""

CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True)
class Placed:
    """A part at its place, pixels."""

    part: Part
    x: float
    width: float


@dataclass(frozen=True)
class Span:
    """Neighbours of one kind of memory together. ``available``: RAM that can still be had."""

    region: Region
    available: bool
    x: float
    width: float
    size: int


def place(bar: PageBar, width: float) -> tuple[Placed, ...]:
    """The parts side by side; they fill ``width``, and small ones are widened at the cost of the largest."""
    if not bar.parts or bar.total <= 0 or width <= 0:
        return ()
    widths = [max(LEAST, width * part.size / bar.total) for part in bar.parts]
    large = widths.index(max(widths))
    widths[large] = max(LEAST, widths[large] + width - sum(widths))
    placed, x = [], 0.0
    for part, own in zip(bar.parts, widths, strict=True):
        placed.append(Placed(part, x, own))
        x += own
    return tuple(placed)


def spans(placed: tuple[Placed, ...]) -> tuple[Span, ...]:
    """The kinds of memory below the parts, from left to right."""
    found: list[Span] = []
    for spot in placed:
        part = spot.part
        available = part.region is Region.RAM and part.owner in (PartOwner.FREE, PartOwner.FILE)
        last = found[-1] if found else None
        if last is not None and (last.region, last.available) == (part.region, available):
            found[-1] = Span(part.region, available, last.x, last.width + spot.width, last.size + part.size)
        else:
            found.append(Span(part.region, available, spot.x, spot.width, part.size))
    return tuple(found)


def paint_parts(
    painter: QPainter, box: QRectF, placed: tuple[Placed, ...], tokens: Tokens, patterns: Patterns, empty: str
) -> None:
    """The bar itself. ``empty`` is written into one without parts."""
    outline = QPainterPath()
    outline.addRoundedRect(box, RADIUS, RADIUS)
    if not placed:
        painter.fillPath(outline, QColor(tokens.raised))
    for place_in_row, spot in enumerate(placed):
        rect = _whole(spot, box)
        at_end = place_in_row in (0, len(placed) - 1)
        if at_end:
            painter.save()
            painter.setClipPath(outline)
        painter.fillRect(rect, patterns.brush(spot.part.region, spot.part.owner))
        if at_end:
            painter.restore()
        if place_in_row:
            painter.fillRect(QRectF(rect.x(), box.y(), 1, box.height()), QColor(tokens.background))
        _paint_word(painter, rect, spot.part, tokens)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(tokens.outline), 1, Qt.PenStyle.SolidLine if placed else Qt.PenStyle.DashLine))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    if not placed:
        painter.setPen(QColor(tokens.muted))
        painter.drawText(box, CENTRE, empty)


def paint_chosen(painter: QPainter, box: QRectF, spot: Placed, tokens: Tokens) -> None:
    """A frame around the part that is pointed at."""
    ring = QRectF(spot.x, box.y(), max(4.0, spot.width), box.height()).adjusted(1, 1, -1, -1)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((tokens.background, 4), (tokens.text, 2)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawRect(ring)


def paint_spans(painter: QPainter, box: QRectF, placed: tuple[Placed, ...], tokens: Tokens, *, shared: bool) -> None:
    """A line under each kind of memory, with its name and size where there is room."""
    metrics = QFontMetricsF(painter.font())
    for span in spans(placed):
        colour = QColor(tokens.outline) if span.available else colour_of(span.region, tokens)
        painter.fillRect(QRectF(span.x + 1, box.bottom() + 3, max(1.0, span.width - 2), 2), colour)
        name = words.tr("available") if span.available else words.region_name(span.region, shared=shared)
        for text in (f"{name} {number(span.size)} GiB", f"{name} {number(span.size)}", name):
            if metrics.horizontalAdvance(text) + 2 <= span.width:
                painter.setPen(QColor(tokens.muted))
                painter.drawText(QPointF(span.x + 1, box.bottom() + 6 + metrics.ascent()), text)
                break


def _whole(spot: Placed, box: QRectF) -> QRectF:
    """On whole pixels: crisp, and filled without blending."""
    left, right = round(spot.x), round(spot.x + spot.width)
    return QRectF(left, box.y(), max(1, right - left), box.height())


def _paint_word(painter: QPainter, box: QRectF, part: Part, tokens: Tokens) -> None:
    """Name and size, only the name, or nothing: what has room."""
    metrics = QFontMetricsF(painter.font())
    name = words.owner_name(part)
    texts = (f"{name} {number(part.size)}", name)
    text = next((text for text in texts if metrics.horizontalAdvance(text) + 2 * PADDING + 4 <= box.width()), "")
    if not text:
        return
    solid = part.owner in SOLID
    if not solid:
        pill = QRectF(0, 0, metrics.horizontalAdvance(text) + 2 * PADDING, metrics.height() + 4)
        pill.moveCenter(box.center())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.raised))
        painter.drawRoundedRect(pill, 3, 3)
    free = part.owner is PartOwner.FREE
    painter.setPen(QColor(tokens.on_accent if solid else tokens.muted if free else tokens.text))
    painter.drawText(box, CENTRE, text)
