"""Looking at all folders of the library, one after the other, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Result, SerialRunner
from engine.library.records import InstalledModel, ScanResult
from engine.library.roots import RootInfo
from engine.library.survey import Survey, Wishes


class Scanning(QObject):
    """Runs surveys. While the first one goes on, what each folder brings is told at once.

    Attributes:
        found: A `ScanResult`.
        completed: The number of a survey that has ended.
        busy_changed: A survey began or ended.
    """

    found = Signal(object)
    completed = Signal(int)
    busy_changed = Signal(bool)

    def __init__(
        self, survey: Survey, runner: SerialRunner, wishes: Callable[[], Wishes], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._survey = survey
        self._runner = runner
        self._wishes = wishes
        self._infos: list[RootInfo] = []
        self._again = False
        self._busy = False
        self._number = 0
        self._first = True
        self._told: tuple[InstalledModel, ...] = ()
        self._stopped = False

    @property
    def busy(self) -> bool:
        """A survey is going on."""
        return self._busy

    def start(self) -> int:
        """Begin one; while one goes on, another follows it. Gives the number of the one that begins after now."""
        if self._busy or self._stopped:
            self._again = True
            return self._number + 1
        self._busy = True
        self.busy_changed.emit(True)
        self._begin()
        return self._number

    def stop(self) -> None:
        """Begin none any more."""
        self._stopped = True

    def _begin(self) -> None:
        self._again = False
        self._number += 1
        wishes = self._wishes()
        self._runner.run(lambda: self._survey.begin(wishes), self._begun)

    def _begun(self, result: Result[tuple[RootInfo, ...]]) -> None:
        if isinstance(result, Err):
            self._failed(result)
            return
        self._infos = list(result.value)
        self._next(0)

    def _next(self, number: int) -> None:
        infos = tuple(self._infos)
        if number >= len(infos):
            self._runner.run(lambda: self._survey.finish(infos), self._finished)
            return
        tell = self._first and len(infos) > 1

        def look() -> tuple[RootInfo, ScanResult | None]:
            info = self._survey.look_at(infos[number], infos)
            now = (*infos[:number], info, *infos[number + 1 :])
            return info, self._survey.result(now) if tell else None

        self._runner.run(look, lambda result: self._looked(number, result))

    def _looked(self, number: int, result: Result[tuple[RootInfo, ScanResult | None]]) -> None:
        if isinstance(result, Err):
            self._failed(result)
            return
        self._infos[number], found = result.value
        if found is not None and found.models != self._told:
            self._told = found.models
            self.found.emit(found)
        self._next(number + 1)

    def _finished(self, result: Result[ScanResult]) -> None:
        self._first = False
        if isinstance(result, Err):
            self._failed(result)
            return
        number = self._number
        self.found.emit(result.value)
        self.completed.emit(number)
        self._rest()

    def _failed(self, result: Err) -> None:
        self._rest()
        raise result.error

    def _rest(self) -> None:
        if self._again and not self._stopped:
            self._begin()
            return
        self._busy = False
        self.busy_changed.emit(False)
