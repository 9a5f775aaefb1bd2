"""Which of several places lies nearest in a direction: pure geometry."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from PySide6.QtCore import QRect

SIDEWAYS = 3
"""How much a step to the side counts against one straight on."""
SLACK = 4
"""Pixels that two places may overlap and still lie one behind the other."""


class Way(Enum):
    """A direction on the screen."""

    LEFT = (-1, 0)
    RIGHT = (1, 0)
    UP = (0, -1)
    DOWN = (0, 1)


def nearest(start: QRect, places: Iterable[QRect], way: Way) -> int | None:
    """Number of the place that is nearest to ``start`` in this direction; None: there is none."""
    best: tuple[float, int] | None = None
    for number, place in enumerate(places):
        distance = _distance(start, place, way)
        if distance is not None and (best is None or distance < best[0]):
            best = distance, number
    return best[1] if best is not None else None


def _distance(start: QRect, place: QRect, way: Way) -> float | None:
    ahead = _gap_ahead(start, place, way)
    if ahead is None:
        return None
    if way in (Way.UP, Way.DOWN):
        aside = _gap(start.left(), start.right(), place.left(), place.right())
        middle = abs(start.center().x() - place.center().x())
    else:
        aside = _gap(start.top(), start.bottom(), place.top(), place.bottom())
        middle = abs(start.center().y() - place.center().y())
    return ahead + SIDEWAYS * aside + middle / 20


def _gap_ahead(start: QRect, place: QRect, way: Way) -> int | None:
    """Pixels from the edge of ``start`` to that of ``place``; None when it does not lie ahead."""
    gaps = {
        Way.LEFT: start.left() - place.right(),
        Way.RIGHT: place.left() - start.right(),
        Way.UP: start.top() - place.bottom(),
        Way.DOWN: place.top() - start.bottom(),
    }
    step = place.center() - start.center()
    across, along = way.value
    ahead = step.x() * across + step.y() * along > 0
    return max(0, gaps[way]) if ahead and gaps[way] >= -SLACK else None


def _gap(low: int, high: int, other_low: int, other_high: int) -> int:
    return max(0, other_low - high, low - other_high)
