"""Drawings of formulas for the view: in the colour of the text, at any size."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QByteArray, QRectF, SignalInstance
from PySide6.QtGui import QColor, QPainter
from PySide6.QtSvg import QSvgRenderer

from engine.formulas.records import INK, Drawing, FormulaError

KEPT = 1_000
"""Formulas that are ready at a time."""


class Source(Protocol):
    """Where drawings come from: `app.formulas.service.FormulaService`."""

    @property
    def drawn(self) -> SignalInstance: ...
    def find(self, latex: str, *, display: bool) -> Drawing | FormulaError | None: ...


class Formula:
    """One drawing, ready to be painted. Sizes are in ems."""

    def __init__(self, drawing: Drawing) -> None:
        self.width, self.ascent, self.descent = drawing.width, drawing.ascent, drawing.descent
        self._svg = drawing.svg
        self._renderers: dict[str, QSvgRenderer] = {}

    def paint(self, painter: QPainter, x: float, baseline: float, em: float, colour: QColor) -> None:
        """Draw it with its base line at ``baseline``, ``em`` pixels to the em."""
        box = QRectF(x, baseline - self.ascent * em, self.width * em, (self.ascent + self.descent) * em)
        self._renderer(colour.name()).render(painter, box)

    def _renderer(self, colour: str) -> QSvgRenderer:
        if colour not in self._renderers:
            svg = self._svg.replace(INK, colour)
            self._renderers[colour] = QSvgRenderer(QByteArray(svg.encode()))
        return self._renderers[colour]


class Formulas:
    """Formulas by their LaTeX; without a source none is ever known."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._ready: dict[tuple[str, bool], Formula] = {}

    def find(self, latex: str, *, display: bool) -> Formula | None:
        """The formula, if it is drawn already."""
        key = (latex, display)
        if key not in self._ready:
            found = self._source.find(latex, display=display) if self._source is not None else None
            if not isinstance(found, Drawing):
                return None
            if len(self._ready) >= KEPT:
                self._ready.clear()
            self._ready[key] = Formula(found)
        return self._ready[key]

    def is_coming(self, latex: str, *, display: bool) -> bool:
        """Whether it is being drawn now."""
        if self._source is None or (latex, display) in self._ready:
            return False
        return self._source.find(latex, display=display) is None


NO_FORMULAS = Formulas()
