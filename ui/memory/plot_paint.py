"""Painting of the plot: areas, thin lines with scales of their own, axes, what happened when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF, QTransform

from app.memory.history import KEPT_S, Marker, MarkerKind
from engine.memory.sizes import GIB
from ui.memory.curves import Runs
from ui.memory.event_marks import paint_event_mark
from ui.memory.page_words import tr
from ui.memory.paint import colour_of
from ui.memory.patterns import Patterns
from ui.memory.series import Layer, Subject
from ui.memory.words import gib
from ui.theme import SPACE_S, SPACE_XS, Tokens

MINUTES = (10, 8, 6, 4, 2, 0)
MOST_TICKS = 5
THICK = 1.8
"""Of a sensor's line, pixels."""

CENTRE = int(Qt.AlignmentFlag.AlignCenter)

TINTS = {"busy": "good", "temperature": "bad", "power": "warn"}
DASHES: dict[str, tuple[float, ...]] = {"busy": (), "temperature": (10.0, 5.0), "power": (3.0, 3.0)}
"""Strokes and gaps, device pixels."""

UNITS = {"busy": "%", "temperature": "°C", "power": "W"}


@dataclass(frozen=True)
class Frame:
    """Where things are: ``area`` the plot itself, ``lane`` above it for events; ``now`` is the right edge, seconds."""

    area: QRectF
    lane: QRectF
    now: float

    def x(self, at: float) -> float:
        """Pixel of a moment."""
        return self.area.right() - (self.now - at) * self.area.width() / KEPT_S

    def at(self, x: float) -> float:
        """Moment of a pixel."""
        return self.now - (self.area.right() - x) * KEPT_S / self.area.width()

    def transform(self, top: float) -> QTransform:
        """From seconds and a figure to pixels, where ``top`` is at the upper edge."""
        wide, high = self.area.width() / KEPT_S, self.area.height() / top
        return QTransform(wide, 0, 0, -high, self.area.right() - self.now * wide, self.area.bottom())


def ticks(total: int) -> tuple[int, ...]:
    """Round sizes for the axis, bytes: at most five steps, and ``total`` itself."""
    step = GIB // 4
    while total > MOST_TICKS * step:
        step *= 2
    inner = [size for size in range(0, total, step) if total - size > step // 2]
    return (*inner, total)


def scale_top(name: str, highest: float, cap: float | None) -> float:
    """Upper end of a line's own scale: 100 for percent and degrees, for watts the card's limit or a round number."""
    least = 100.0 if name != "power" else cap or 10.0
    top = max(least, highest)
    if top <= least:
        return least
    step = 10.0 if top <= 100 else 50.0
    return step * -(-top // step)


def paint_areas(
    painter: QPainter, frame: Frame, subject: Subject, stack: Runs, seen: Collection[Layer], patterns: Patterns
) -> None:
    """The stack, the highest layer first: lower ones cover it. Layers that never held anything are left out."""
    transform = frame.transform(float(subject.total))
    base = frame.area.bottom()
    for run in stack.runs:
        mapped = [transform.map(polygon) for polygon in run]
        layers = [(layer, edge) for layer, edge in zip(subject.layers, mapped, strict=True) if layer in seen]
        for layer, edge in reversed(layers):
            if edge.size() < 2:
                continue
            area = QPolygonF(edge)
            area.append(QPointF(edge.last().x(), base))
            area.append(QPointF(edge.first().x(), base))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(patterns.brush(layer.region, layer.owner))
            painter.drawPolygon(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for layer, edge in layers:
            painter.setPen(QPen(colour_of(layer.region, patterns.tokens), 1))
            painter.drawPolyline(edge)


def gaps(frame: Frame, stack: Runs) -> list[QRectF]:
    """Where nothing was measured."""
    area = frame.area
    found, edge = [], area.left()
    for run in stack.runs:
        found.append((edge, max(area.left(), frame.x(run[0].first().x()))))
        edge = min(area.right(), frame.x(run[0].last().x()))
    found.append((edge, area.right()))
    return [QRectF(left, area.y(), right - left, area.height()) for left, right in found if right - left > 2]


def paint_gaps(painter: QPainter, holes: list[QRectF], tokens: Tokens) -> None:
    """Say that nothing was measured, where there is room for the words."""
    text, metrics = tr("not measured"), QFontMetricsF(painter.font())
    for box in holes:
        if metrics.horizontalAdvance(text) + 2 * SPACE_S > box.width():
            continue
        ground = QRectF(0, 0, metrics.horizontalAdvance(text) + SPACE_S, metrics.height())
        ground.moveCenter(box.center())
        painter.fillRect(ground, QColor(tokens.raised))
        painter.setPen(QColor(tokens.muted))
        painter.drawText(box, CENTRE, text)


def paint_line(painter: QPainter, frame: Frame, name: str, runs: Runs, top: float, tokens: Tokens) -> None:
    """One sensor, with a rim so that it is seen on any area.

    Made of lines one device pixel wide, a little apart: Qt strokes a wider line thirty times slower.
    """
    transform, pixel = frame.transform(top), 1.0 / painter.device().devicePixelRatioF()
    rim, core = QPen(QColor(tokens.surface), 1), QPen(QColor(getattr(tokens, TINTS[name])), 1)
    if DASHES[name]:
        core.setDashPattern(DASHES[name])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    reach = 0.5 * THICK
    for run in runs.runs:
        line = transform.map(run[0])
        for pen, moves in ((rim, _around(reach + 1.0, pixel)), (core, _along(reach, pixel))):
            pen.setCosmetic(True)
            painter.setPen(pen)
            for dx, dy in moves:
                painter.drawPolyline(line.translated(dx, dy))


def _around(reach: float, pixel: float) -> list[tuple[float, float]]:
    return [*_along(reach, pixel), (-reach, reach), (reach, -reach)]


def _along(reach: float, pixel: float) -> list[tuple[float, float]]:
    """Down the diagonal, so that steep and flat pieces get the same width."""
    steps = max(1, round(2 * reach / pixel))
    return [(place, place) for place in (-reach + (number + 0.5) * 2 * reach / steps for number in range(steps))]


def paint_axes(painter: QPainter, frame: Frame, subject: Subject, tokens: Tokens) -> None:
    """Sizes to the left, minutes below."""
    area, metrics = frame.area, QFontMetricsF(painter.font())
    for size in ticks(subject.total):
        y = round(area.bottom() - area.height() * size / subject.total) + 0.5
        painter.setPen(QPen(QColor(tokens.hairline), 1))
        painter.drawLine(QLineF(area.left(), y, area.right(), y))
        painter.setPen(QColor(tokens.muted))
        text = gib(size)
        baseline = y + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(area.left() - SPACE_S - metrics.horizontalAdvance(text), baseline), text)
    for minutes in MINUTES:
        x = frame.x(frame.now - 60 * minutes)
        text = tr("{m} min ago").format(m=minutes) if minutes else tr("now")
        width = metrics.horizontalAdvance(text)
        left = min(max(area.left(), x - width / 2), area.right() - width)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(QPointF(left, area.bottom() + SPACE_XS + metrics.ascent()), text)


def paint_scale(painter: QPainter, frame: Frame, name: str, top: float, x: float, tokens: Tokens) -> float:
    """The scale of a line at ``x``, right of the plot; returns where the next one may stand."""
    metrics = QFontMetricsF(painter.font())
    painter.setPen(QColor(getattr(tokens, TINTS[name])))
    widest = 0.0
    for share in (0.0, 0.5, 1.0):
        text = f"{top * share:.0f}" + (f" {UNITS[name]}" if share == 1.0 else "")
        y = frame.area.bottom() - frame.area.height() * share + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(x, y), text)
        widest = max(widest, metrics.horizontalAdvance(text))
    return x + widest + SPACE_S


def paint_events(painter: QPainter, frame: Frame, markers: Sequence[Marker], tokens: Tokens) -> None:
    """Answers are bars in the lane, loads and unloads arrows with a line through the plot."""
    lane = frame.lane
    high = lane.height() - 8
    for marker in markers:
        x = frame.x(marker.at)
        if marker.kind is MarkerKind.ANSWER:
            left = max(x, lane.left())
            end = frame.x(marker.until if marker.until is not None else frame.now)
            paint_event_mark(painter, QRectF(left, lane.y() + 4, max(3.0, end - left), high), marker.kind, tokens)
        elif x >= lane.left():
            painter.setPen(QPen(QColor(tokens.text), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(round(x) + 0.5, lane.bottom(), round(x) + 0.5, frame.area.bottom()))
            paint_event_mark(painter, QRectF(x - high * 0.6, lane.y() + 4, high * 1.2, high), marker.kind, tokens)


def paint_cursor(painter: QPainter, frame: Frame, at: float, tokens: Tokens) -> None:
    """The moment that is told."""
    x = round(frame.x(at)) + 0.5
    for colour, width in ((tokens.surface, 3), (tokens.text, 1)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawLine(QLineF(x, frame.lane.top(), x, frame.area.bottom()))
