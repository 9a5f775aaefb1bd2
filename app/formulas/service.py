"""Formulas of messages: drawn once each, off the GUI thread."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from engine.formulas.drawing import draw
from engine.formulas.records import Drawing, FormulaError

KEPT = 2_000
"""Drawings in memory, about 10 KB each; those that were not asked for longest go."""

Key = tuple[str, bool]


class FormulaService(QObject):
    """Gives drawings that are known, and makes those that are not.

    Attributes:
        drawn: Something that was asked for is known now.
    """

    drawn = Signal()

    def __init__(self, executor: Executor, parent: QObject | None = None, kept: int = KEPT) -> None:
        super().__init__(parent)
        self._runner = SerialRunner(executor, self)
        self._known: OrderedDict[Key, Drawing | FormulaError] = OrderedDict()
        self._asked: set[Key] = set()
        self._kept = kept
        self._ended = False

    def find(self, latex: str, *, display: bool) -> Drawing | FormulaError | None:
        """The drawing of ``latex``, or why there is none; None while it is made: `drawn` follows."""
        key = (latex, display)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._asked:
            self._asked.add(key)
            self._runner.run(lambda: self._draw(key), lambda result: self._take(key, result))
        return None

    def _draw(self, key: Key) -> Drawing:
        """On the executor. What is still queued at the end is not drawn any more."""
        if self._ended:
            raise FormulaError("the program ends")
        return draw(key[0], display=key[1])

    def shutdown(self) -> None:
        """Finish the drawing that is being made."""
        self._ended = True
        self._runner.close()

    def _take(self, key: Key, result: Result[Drawing]) -> None:
        found: object = result.error if isinstance(result, Err) else result.value
        if not isinstance(found, Drawing | FormulaError):
            raise TypeError(type(found)) from (result.error if isinstance(result, Err) else None)
        self._asked.discard(key)
        self._known[key] = found
        while len(self._known) > self._kept:
            self._known.popitem(last=False)
        self.drawn.emit()
