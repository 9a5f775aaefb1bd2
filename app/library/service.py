"""Owner of the list of installed models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.jobs import Executor, SerialRunner
from app.library.chores import Chores
from app.library.deeds import LibraryDeeds, Told
from app.library.outside import Outside
from app.library.roots import RootChanges
from app.library.scanning import Scanning
from app.library.settings import LibrarySettings, LibraryUseSettings
from app.library.surveyor import Surveyor, SurveyorHere
from app.library.surveyor_apart import SurveyorApart
from app.library.task_queue import TaskQueue
from app.library.tasks import LibraryTask, TaskKind, TaskState
from app.library.updates import UpdateCheck
from app.library.watch import LibraryWatch
from app.settings.fields import feature_name
from engine.errors import VrambleError
from engine.library.child.launch import environment
from engine.library.index import Index
from engine.library.keep import add_starter
from engine.library.names import shown
from engine.library.records import Deletion, InstalledModel, Mend, ModelUpdate, ScanResult
from engine.library.roots import LibraryRoot, RootInfo, RootKind, RootState
from engine.library.states import FileState
from engine.library.survey import Survey
from engine.library.transfer import How as ImportMode
from engine.library.whereabouts import Whereabouts

__all__ = [
    "Deletion",
    "FileState",
    "ImportMode",
    "InstalledModel",
    "LibraryRoot",
    "LibraryService",
    "LibraryTask",
    "Mend",
    "ModelUpdate",
    "Outside",
    "RootInfo",
    "RootKind",
    "RootState",
    "TaskKind",
    "TaskState",
]


AfterScan = Callable[[VrambleError | None], None]
"""Called when a scan has ended, with why it found nothing."""


class LibraryService(LibraryDeeds):
    """The models on this machine, and what can be done with them. The files are the truth."""

    def __init__(
        self,
        models_folder: Path,
        starter: Path | None,
        executor: Executor,
        parent: QObject | None = None,
        outside: Outside | None = None,
    ) -> None:
        """``starter`` is the model that came with the installation; a first scan begins at once."""
        super().__init__(models_folder, starter, parent)
        self._outside = outside or Outside()
        self._stopped = False
        self._runner = SerialRunner(executor, self)
        self._after: list[tuple[int, AfterScan]] = []
        where = Whereabouts(models_folder, self._outside.around)
        self._scanning = Scanning(self._surveyor(where), lambda: self._outside.wishes, self)
        self._changes = RootChanges(self._outside.settings, where, self._runner)
        self._queue = TaskQueue(self._outside.files or executor, self)
        self._update_check = UpdateCheck(self._outside.ask, self, self._outside.now)
        self._chores = Chores(self._queue, self._remember, self.rescan)
        self._watch = LibraryWatch(self._runner, self) if self._outside.watch else None
        self._connect()
        self.rescan()

    def _surveyor(self, where: Whereabouts) -> Surveyor:
        around, index = self._outside.around, self._outside.index
        if self._outside.apart and around is not None:
            return SurveyorApart(self._folder, index, lambda: environment(around), self)
        return SurveyorHere(Survey(where, Index(index), lambda: self._stopped), self._runner, self)

    def _connect(self) -> None:
        self._scanning.found.connect(self._show)
        self._scanning.completed.connect(self._completed)
        self._scanning.failed.connect(self._scan_failed)
        self._scanning.busy_changed.connect(self.scanning_changed)
        self._queue.changed.connect(self.tasks_changed)
        self._queue.ended.connect(self.task_ended)
        self._update_check.changed.connect(self.updates_changed)
        if self._watch is not None:
            self._watch.changed.connect(self.rescan)
        if self._outside.settings is not None:
            own = feature_name(LibrarySettings)
            self._outside.settings.changed.connect(lambda name: self.rescan() if name == own else None)

    # ---- folders

    def add_root(self, path: Path, done: Told[RootInfo]) -> None:
        """Show the models of a folder where they lie; ``done`` gets its figures or why it was not added."""

        def taken(root: LibraryRoot | VrambleError) -> None:
            if isinstance(root, VrambleError):
                done(root)
            else:
                self._after_scan(lambda failure: done(failure) if failure else self._tell_root(root.id, done))

        self._changes.add(path, self.roots, taken)

    def remove_root(self, root_id: str) -> None:
        """Take a folder off the list; its files stay. One of another program is hidden."""
        self._changes.remove(root_id)

    def show_root(self, root_id: str) -> None:
        """Show a hidden folder again."""
        self._changes.show(root_id)

    # ---- the rest

    def note_used(self, path: Path) -> None:
        """The model at ``path`` was loaded now."""
        store, when = self._outside.settings, self._outside.now()
        if store is not None and any(model.path == path for model in self.models):
            store.put(store.get(LibraryUseSettings).with_use(shown(path), when))
            models = tuple(
                msgspec.structs.replace(model, last_used=when) if model.path == path else model for model in self.models
            )
            self._result = msgspec.structs.replace(self._result, models=models)
            self.models_changed.emit()

    def add_starter(self, done: Told[InstalledModel]) -> None:
        """Put the starter model into the models folder; ``done`` gets its entry or why it could not be done."""
        source, folder = self._starter, self._folder

        def finish(outcome: Path | VrambleError) -> None:
            if isinstance(outcome, VrambleError):
                done(outcome)
            else:
                self._after_scan(lambda failure: done(failure) if failure else self._tell_model(outcome, done))

        self._run(lambda: add_starter(source, folder), finish, rescan=False)

    def shutdown(self) -> None:
        """End scans and long work, and wait for the threads. Only for quitting."""
        self._stopped = True
        self._scanning.stop()
        self._queue.shutdown()
        self._runner.close()
        if self._watch is not None:
            self._watch.close()

    # ---- inside

    def _after_scan(self, then: AfterScan) -> None:
        self._after.append((self._scanning.start(), then))

    def _completed(self, number: int, failure: VrambleError | None = None) -> None:
        due = [then for wanted, then in self._after if wanted <= number]
        self._after = [(wanted, then) for wanted, then in self._after if wanted > number]
        for then in due:
            then(failure)

    def _scan_failed(self, number: int, error: Exception) -> None:
        """What was known stays, with a sentence; a fault of ours goes to the crash report too."""
        fault = VrambleError("scan-failed", "The models could not be looked at because of a fault in Vramble.")
        failure = error if isinstance(error, VrambleError) else fault
        self._result = msgspec.structs.replace(self._result, problems=(failure.sentence,))
        self.models_changed.emit()
        self._completed(number, failure)
        if error is not failure:
            raise error

    def _tell_root(self, root_id: str, done: Told[RootInfo]) -> None:
        root = self._root(root_id)
        done(root if root is not None else VrambleError("no-such-root", "The folder is not there any more."))

    def _tell_model(self, path: Path, done: Told[InstalledModel]) -> None:
        for model in self.models:
            if model.path == path:
                done(model)
                return
        done(VrambleError("no-starter", "The starter model was put in place but is not there.", "Try again."))

    def _show(self, found: ScanResult) -> None:
        roots_changed = (found.roots, found.hidden) != (self._result.roots, self._result.hidden)
        if found.folders != self._result.folders and self._watch is not None:
            self._watch.follow(found.folders)
        self._result = found
        self._update_check.forget_missing(found.models)
        self.models_changed.emit()
        if roots_changed:
            self.roots_changed.emit()
