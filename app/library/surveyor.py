"""Who looks at all folders of the library: here, or in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Result, SerialRunner
from engine.library.records import ScanResult
from engine.library.roots import RootInfo
from engine.library.scan import Checked
from engine.library.survey import Survey, Wishes


class Surveyor(QObject):
    """One look at a time.

    Attributes:
        found: What is known by now (a `ScanResult`), while a look goes on that should tell parts.
        finished: What it has found (a `ScanResult`). It has ended.
        failed: Why it ended without that (an exception).
    """

    found = Signal(object)
    finished = Signal(object)
    failed = Signal(object)

    def begin(self, wishes: Wishes, checked: Sequence[Checked], *, parts: bool) -> None:
        """Look; ``checked`` is what was hashed since the last look, ``parts``: tell after each folder."""
        raise NotImplementedError

    def stop(self) -> None:
        """End a look that goes on. Only for quitting."""


class SurveyorHere(Surveyor):
    """Looks on a runner of this process: for programs that draw nothing meanwhile."""

    def __init__(self, survey: Survey, runner: SerialRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._survey, self._runner = survey, runner
        self._infos: list[RootInfo] = []
        self._parts = False

    def begin(self, wishes: Wishes, checked: Sequence[Checked], *, parts: bool) -> None:
        """See `Surveyor`."""
        self._parts = parts

        def work() -> tuple[RootInfo, ...]:
            self._survey.take(checked)
            return self._survey.begin(wishes)

        self._runner.run(work, self._begun)

    def _begun(self, result: Result[tuple[RootInfo, ...]]) -> None:
        if isinstance(result, Err):
            self.failed.emit(result.error)
            return
        self._infos = list(result.value)
        self._next(0)

    def _next(self, number: int) -> None:
        infos = tuple(self._infos)
        if number >= len(infos):
            self._runner.run(lambda: self._survey.finish(infos), self._ended)
            return
        tell = self._parts and len(infos) > 1

        def look() -> tuple[RootInfo, ScanResult | None]:
            info = self._survey.look_at(infos[number], infos)
            now = (*infos[:number], info, *infos[number + 1 :])
            return info, self._survey.result(now) if tell else None

        self._runner.run(look, lambda result: self._looked(number, result))

    def _looked(self, number: int, result: Result[tuple[RootInfo, ScanResult | None]]) -> None:
        if isinstance(result, Err):
            self.failed.emit(result.error)
            return
        self._infos[number], found = result.value
        if found is not None:
            self.found.emit(found)
        self._next(number + 1)

    def _ended(self, result: Result[ScanResult]) -> None:
        if isinstance(result, Err):
            self.failed.emit(result.error)
        else:
            self.finished.emit(result.value)
