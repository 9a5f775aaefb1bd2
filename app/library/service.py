"""Owner of the list of installed models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Ok, Result, SerialRunner
from engine.errors import VrambleError
from engine.library.keep import add_starter, delete
from engine.library.records import InstalledModel, ScanResult
from engine.library.scan import Scanner
from engine.library.states import FileState

T = TypeVar("T")

__all__ = ["FileState", "InstalledModel", "LibraryService"]


class LibraryService(QObject):
    """The models on this machine, as of the last scan. The files are the truth.

    Attributes:
        models_changed: `models`, `companions` or `folder_missing` are others now.
        scanning_changed: A scan began or ended.
    """

    models_changed = Signal()
    scanning_changed = Signal(bool)

    def __init__(
        self, models_folder: Path, starter: Path | None, executor: Executor, parent: QObject | None = None
    ) -> None:
        """``starter`` is the model that came with the installation; a first scan begins at once."""
        super().__init__(parent)
        self._folder = models_folder
        self._starter = starter
        self._stopped = False
        self._scanner = Scanner(models_folder, lambda: self._stopped)
        self._runner = SerialRunner(executor, self)
        self._result = ScanResult()
        self._scans = 0
        self.rescan()

    @property
    def models(self) -> tuple[InstalledModel, ...]:
        """Models by name, usable or not; offer those with ``can_chat``."""
        return self._result.models

    @property
    def companions(self) -> tuple[InstalledModel, ...]:
        """Files that belong to other models, such as projectors."""
        return self._result.companions

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about folders that could not be read."""
        return self._result.problems

    @property
    def folder(self) -> Path:
        """The models folder; it may not be there."""
        return self._folder

    @property
    def folder_missing(self) -> bool:
        """The models folder is not there: nothing was ever downloaded, or a card was taken out."""
        return self._result.folder_missing

    @property
    def scanning(self) -> bool:
        """A scan is running, so `models` may be old."""
        return self._scans > 0

    @property
    def has_starter(self) -> bool:
        """The installation brought a starter model."""
        return self._starter is not None

    def rescan(self) -> None:
        """Look again. A scan that waits already is enough."""
        if self._scans > 1 or self._stopped:
            return
        self._scans += 1
        self.scanning_changed.emit(True)
        self._runner.run(self._scanner.scan, self._take)

    def delete(self, model: InstalledModel, done: Callable[[int | VrambleError], None]) -> None:
        """Delete ``model``; ``done`` gets the bytes freed or why it was not deleted."""
        folder = self._folder
        self._run(lambda: delete(folder, model), done)

    def is_starter(self, model: InstalledModel) -> bool:
        """Whether ``model`` is the starter model, of which the installation keeps its own copy."""
        return self._starter is not None and model.path.name == self._starter.name

    def add_starter(self, done: Callable[[InstalledModel | VrambleError], None]) -> None:
        """Put the starter model into the models folder; ``done`` gets its entry or why it could not be done."""
        source, scanner, folder = self._starter, self._scanner, self._folder

        def work() -> tuple[InstalledModel, ScanResult]:
            path = add_starter(source, folder)
            result = scanner.scan()
            for model in result.models:
                if model.path == path:
                    return model, result
            raise VrambleError("no-starter", "The starter model was put in place but is not there.", "Try again.")

        def finish(outcome: tuple[InstalledModel, ScanResult] | VrambleError) -> None:
            if isinstance(outcome, VrambleError):
                done(outcome)
                return
            model, result = outcome
            self._show(result)
            done(model)

        self._run(work, finish, rescan=False)

    def shutdown(self) -> None:
        """End a running scan and wait for the thread. Only for quitting."""
        self._stopped = True
        self._runner.close()

    def _run(self, work: Callable[[], T], done: Callable[[T | VrambleError], None], *, rescan: bool = True) -> None:
        def finish(result: Result[T]) -> None:
            if isinstance(result, Ok):
                done(result.value)
            elif isinstance(result.error, VrambleError):
                done(result.error)
            else:
                raise result.error
            if rescan:
                self.rescan()

        self._runner.run(work, finish)

    def _take(self, result: Result[ScanResult]) -> None:
        self._scans -= 1
        if not self._scans:
            self.scanning_changed.emit(False)
        if isinstance(result, Err):
            raise result.error
        self._show(result.value)

    def _show(self, found: ScanResult) -> None:
        if found.folder_missing and self._result.models:
            found = msgspec.structs.replace(
                found,
                models=tuple(_absent(model) for model in self._result.models),
                companions=tuple(_absent(model) for model in self._result.companions),
            )
        self._result = found
        self.models_changed.emit()


def _absent(model: InstalledModel) -> InstalledModel:
    return msgspec.structs.replace(
        model,
        state=FileState.ABSENT,
        can_chat=False,
        problem="The models folder is not there now. Was a card or drive taken out?",
    )
