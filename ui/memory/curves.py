"""The history as polygons in seconds and bytes, continued by each sample instead of made anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPolygonF

from app.memory.history import GpuPoint, Point
from ui.memory.series import Layer, Subject, values

GAP_S = 12.0
"""Samples further apart are not joined: nothing was measured between. A minimised window samples every ten seconds."""

LINES: dict[str, Callable[[GpuPoint], float | None]] = {
    "busy": lambda gpu: gpu.busy_percent,
    "temperature": lambda gpu: gpu.temperature_c,
    "power": lambda gpu: gpu.power_w,
}


class Runs:
    """Polylines of some figures that are measured together, broken where nothing was known."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.runs: list[list[QPolygonF]] = []
        self._last: float | None = None

    def add(self, at: float, heights: Sequence[float] | None) -> None:
        """Go on with ``heights`` at the time ``at``; None is a gap."""
        if heights is None:
            self._last = None
            return
        if self._last is None or at - self._last > GAP_S:
            self.runs.append([QPolygonF() for _ in range(self._count)])
        for polygon, height in zip(self.runs[-1], heights, strict=True):
            polygon.append(QPointF(at, height))
        self._last = at

    def forget(self, before: float) -> None:
        """Drop what is older."""
        while self.runs:
            first = self.runs[0]
            while not first[0].isEmpty() and first[0].first().x() < before:
                for polygon in first:
                    polygon.removeFirst()
            if not first[0].isEmpty():
                return
            self.runs.pop(0)
            if not self.runs:
                self._last = None


class Curves:
    """Stack and lines of one subject.

    Attributes:
        seen: Layers that held something.
        highest: Of each line.
    """

    def __init__(self, subject: Subject, card: str | None) -> None:
        self.subject, self.card = subject, card
        self.stack = Runs(len(subject.layers))
        self.lines = {name: Runs(1) for name in LINES}
        self.seen: set[Layer] = set()
        self.highest = dict.fromkeys(LINES, 0.0)
        self._taken: float | None = None

    def follow(self, points: Sequence[Point]) -> bool:
        """Take what is new; whether anything was."""
        new = [point for point in reversed(points) if self._taken is None or point.at > self._taken]
        for point in reversed(new):
            self._add(point)
        if points:
            self.stack.forget(points[0].at)
            for runs in self.lines.values():
                runs.forget(points[0].at)
        return bool(new)

    def _add(self, point: Point) -> None:
        sizes = values(point, self.subject)
        tops = None if sizes is None else [float(sum(sizes[: number + 1])) for number in range(len(sizes))]
        self.stack.add(point.at, tops)
        self.seen.update(layer for layer, size in zip(self.subject.layers, sizes or (), strict=False) if size)
        gpu = point.gpu(self.card) if self.card is not None else None
        for name, figure in LINES.items():
            value = figure(gpu) if gpu is not None else None
            self.lines[name].add(point.at, None if value is None else (float(value),))
            self.highest[name] = max(self.highest[name], value or 0.0)
        self._taken = point.at
