"""Fillings of the page's bars and plot: a colour for the kind of memory, a pattern for the owner.

Patterns are tiles that repeat without a seam, so that filling any area is one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap, QTransform

from ui.memory.owners import PartOwner
from ui.memory.paint import LEAN, colour_of
from ui.memory.shares import Region
from ui.theme import Tokens

TILE = 8
"""Side of a tile, logical pixels: patterns of neighbours stay in step."""


class Way(Enum):
    """Direction of lines. ``with_kind`` leans as the kind of memory does in the strip, ``against`` the other way."""

    LYING = "lying"
    STANDING = "standing"
    RIGHT = "right"
    LEFT = "left"
    WITH_KIND = "with_kind"
    AGAINST = "against"


@dataclass(frozen=True)
class Lines:
    """Parallel lines; ``step`` divides the tile."""

    way: Way
    width: float
    step: float = TILE
    alpha: float = 1.0


@dataclass(frozen=True)
class Dots:
    """Round dots at these places of the tile."""

    radius: float
    places: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Pattern:
    """``tint`` of the colour lies under the marks; all of it is a solid area."""

    tint: float
    marks: tuple[Lines | Dots, ...] = ()


SOLID = (PartOwner.WEIGHTS, PartOwner.MODEL)

PATTERNS = {
    PartOwner.WEIGHTS: Pattern(1.0),
    PartOwner.MODEL: Pattern(1.0),
    PartOwner.KV: Pattern(0.50, (Lines(Way.LYING, 1.5, TILE / 2),)),
    PartOwner.COMPUTE: Pattern(0.28, (Lines(Way.RIGHT, 1.2), Lines(Way.LEFT, 1.2))),
    PartOwner.IMAGE: Pattern(0.62, (Dots(1.6, ((2.0, 2.0), (6.0, 6.0))),)),
    PartOwner.DRAFT: Pattern(0.40, (Lines(Way.STANDING, 1.6, TILE / 2),)),
    PartOwner.SPILLED: Pattern(0.50, (Lines(Way.AGAINST, 1.8, TILE / 2),)),
    PartOwner.ENGINE: Pattern(0.18, (Dots(2.2, ((4.0, 4.0),)),)),
    PartOwner.OURS: Pattern(0.18, (Lines(Way.STANDING, 1.4),)),
    PartOwner.PROGRAM: Pattern(0.22, (Lines(Way.WITH_KIND, 1.8),)),
    PartOwner.PROGRAMS: Pattern(0.14, (Lines(Way.STANDING, 1.4, TILE / 2),)),
    PartOwner.REST: Pattern(0.10, (Lines(Way.AGAINST, 1.0),)),
    PartOwner.SYSTEM: Pattern(0.10, (Lines(Way.AGAINST, 1.0),)),
    PartOwner.ZRAM: Pattern(0.28, (Lines(Way.STANDING, 1.0), Lines(Way.LYING, 1.0))),
    PartOwner.FILE: Pattern(0.0, (Dots(1.1, ((2.0, 2.0), (6.0, 6.0))),)),
    PartOwner.FREE: Pattern(0.0, (Lines(Way.WITH_KIND, 1.0, alpha=0.22),)),
}


class Patterns:
    """Brushes for one colour scheme and one device pixel ratio, made when they are wanted first."""

    def __init__(self, tokens: Tokens, ratio: float) -> None:
        self.tokens, self._ratio = tokens, ratio
        self._brushes: dict[tuple[Region, PartOwner], QBrush] = {}

    def fits(self, tokens: Tokens, ratio: float) -> bool:
        """Whether these brushes are for such a screen."""
        return tokens is self.tokens and ratio == self._ratio

    def brush(self, region: Region, owner: PartOwner) -> QBrush:
        """The filling of one owner in one kind of memory."""
        key = (region, owner)
        if key not in self._brushes:
            self._brushes[key] = self._make(region, owner)
        return self._brushes[key]

    def _make(self, region: Region, owner: PartOwner) -> QBrush:
        colour, pattern = colour_of(region, self.tokens), PATTERNS[owner]
        if pattern.tint == 1.0:
            return QBrush(colour)
        side = round(TILE * self._ratio)
        tile = QPixmap(side, side)
        tile.fill(QColor(self.tokens.raised))
        painter = QPainter(tile)
        painter.scale(side / TILE, side / TILE)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, 0, TILE, TILE), _faded(colour, pattern.tint))
        for mark in pattern.marks:
            if isinstance(mark, Dots):
                _draw_dots(painter, colour, mark)
            else:
                _draw_lines(painter, _faded(colour, mark.alpha), mark, region)
        painter.end()
        brush = QBrush(tile)
        brush.setTransform(QTransform.fromScale(TILE / side, TILE / side))
        return brush


def fresh(patterns: Patterns | None, tokens: Tokens, ratio: float) -> Patterns:
    """``patterns`` when they still fit the screen and the theme, else new ones."""
    return patterns if patterns is not None and patterns.fits(tokens, ratio) else Patterns(tokens, ratio)


def _faded(colour: QColor, alpha: float) -> QColor:
    faded = QColor(colour)
    faded.setAlphaF(alpha)
    return faded


def _draw_lines(painter: QPainter, colour: QColor, lines: Lines, region: Region) -> None:
    painter.setPen(QPen(colour, lines.width))
    if lines.way is Way.LYING:
        y = lines.step / 2
        while y < TILE:
            painter.drawLine(QLineF(-1, y, TILE + 1, y))
            y += lines.step
        return
    kind = LEAN[region] or 1
    lean = {Way.STANDING: 0, Way.RIGHT: 1, Way.LEFT: -1, Way.WITH_KIND: kind, Way.AGAINST: -kind}[lines.way]
    x = -float(TILE) + (lines.step / 2 if lean == 0 else 0)
    while x <= 2 * TILE:
        painter.drawLine(QLineF(x - lean, TILE + 1, x + lean * (TILE + 1), -1))
        x += lines.step


def _draw_dots(painter: QPainter, colour: QColor, dots: Dots) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for x, y in dots.places:
        painter.drawEllipse(QPointF(x, y), dots.radius, dots.radius)
