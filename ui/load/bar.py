"""Painting of what a load takes on one device, against the room there."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.memory.fit.records import DeviceUse
from engine.protocol.types import DeviceKind
from ui.theme import Theme, Tokens

HEIGHT = 20
RADIUS = 4.0
LEAST = 2.0
"""A part that is there is at least so wide, pixels."""


@dataclass(frozen=True)
class BarPart:
    """One part of a bar: what it is, and how much of the bar it takes, 0..1."""

    name: str
    share: float


def part_sizes(use: DeviceUse) -> tuple[tuple[str, int], ...]:
    """Name and bytes of the parts, from left to right."""
    return (
        ("weights", use.weights),
        ("kv", use.kv),
        ("compute", use.compute + use.output),
        ("image", use.image),
        ("draft", use.draft),
        ("learned", use.learned),
    )


def bar_parts(use: DeviceUse) -> tuple[tuple[BarPart, ...], float]:
    """The parts from left to right, and where the room ends; more than the room makes the bar stand for all of it."""
    whole = max(use.total, use.room or 0, 1)
    parts = tuple(BarPart(name, size / whole) for name, size in part_sizes(use) if size > 0)
    return parts, 1.0 if use.room is None else use.room / whole


class FitBar(QWidget):
    """Weights solid, KV cache striped, compute buffers dotted, the rest of the room hatched."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._use: DeviceUse | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_use(self, use: DeviceUse) -> None:
        """Paint ``use``."""
        self._use = use
        self.update()

    def sizeHint(self) -> QSize:
        """One line high."""
        return QSize(self._theme.px(160), self._theme.px(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Outline, parts, the mark where the room ends."""
        if self._use is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, box = self._theme.tokens, QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = QPainterPath()
        outline.addRoundedRect(box, RADIUS, RADIUS)
        painter.fillPath(outline, QColor(tokens.raised))
        painter.setClipPath(outline)
        parts, end = bar_parts(self._use)
        self._paint_parts(painter, box, parts, colour_of(self._use.kind, tokens))
        if end < 1.0:
            edge = box.x() + end * box.width()
            painter.fillRect(QRectF(edge - 2, box.y(), 6, box.height()), QColor(tokens.surface))
            painter.fillRect(QRectF(edge, box.y(), 2, box.height()), QColor(tokens.bad))
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.bad if end < 1.0 else tokens.outline), 1))
        painter.drawRoundedRect(box, RADIUS, RADIUS)

    @staticmethod
    def _paint_parts(painter: QPainter, box: QRectF, parts: tuple[BarPart, ...], colour: QColor) -> None:
        x = box.x()
        for part in parts:
            width = max(LEAST, part.share * box.width())
            paint_pattern(painter, QRectF(x, box.y(), width - 1, box.height()), part.name, colour)
            x += width


def colour_of(kind: DeviceKind, tokens: Tokens) -> QColor:
    """A card has VRAM; what is integrated uses GTT; the rest is RAM."""
    return QColor({DeviceKind.GPU: tokens.vram, DeviceKind.IGPU: tokens.gtt}.get(kind, tokens.ram))


def paint_pattern(painter: QPainter, box: QRectF, name: str, colour: QColor) -> None:
    """Fill ``box`` with the look of a part: weights solid, KV cache striped, buffers dotted, the others two tints."""
    tint = QColor(colour)
    tint.setAlphaF({"weights": 1.0, "image": 0.6, "draft": 0.45}.get(name, 0.28))
    painter.fillRect(box, tint)
    if name not in ("kv", "compute"):
        return
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    if name == "kv":
        painter.setPen(QPen(colour, 1.6))
        x = box.x() - box.height()
        while x < box.right() + box.height():
            painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()))
            x += 5.0
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        y = box.y() + 3
        while y < box.bottom():
            x = box.x() + 3
            while x < box.right():
                painter.drawEllipse(QPointF(x, y), 1.0, 1.0)
                x += 5.0
            y += 5.0
    painter.restore()
