"""Owner of the list of installed models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QObject

from app.jobs import Executor, Ok, Result, SerialRunner
from app.library.chores import Chores, tell_path
from app.library.facts import LibraryFacts
from app.library.outside import Outside
from app.library.roots import RootChanges
from app.library.scanning import Scanning
from app.library.settings import LibraryUseSettings
from app.library.task_queue import TaskQueue
from app.library.tasks import LibraryTask, TaskKind, TaskState
from app.library.trash import qt_trash
from app.library.updates import Ask, UpdateCheck
from app.library.watch import LibraryWatch
from engine.errors import VrambleError
from engine.library.deletion import carry_out, plan_deletion
from engine.library.hashing import Hashed
from engine.library.index import Index
from engine.library.keep import add_starter
from engine.library.names import shown
from engine.library.origin import Origin
from engine.library.records import Deletion, InstalledModel, Mend, ModelUpdate, ScanResult
from engine.library.roots import LibraryRoot, RootInfo, RootKind, RootState
from engine.library.states import FileState
from engine.library.survey import Survey
from engine.library.transfer import How as ImportMode
from engine.library.trash import Trashed, put_back, trash
from engine.library.whereabouts import Whereabouts

T = TypeVar("T")
Told = Callable[[T | VrambleError], None]

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


class LibraryService(LibraryFacts):
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
        self._after: list[tuple[int, Callable[[], None]]] = []
        where = Whereabouts(models_folder, self._outside.around)
        self._survey = Survey(where, Index(self._outside.index), lambda: self._stopped)
        self._scanning = Scanning(self._survey, self._runner, lambda: self._outside.wishes, self)
        self._changes = RootChanges(self._outside.settings, where, self._runner)
        self._queue = TaskQueue(self._outside.files or executor, self)
        self._update_check = UpdateCheck(self._outside.ask, self, self._outside.now)
        self._chores = Chores(self._queue, self._remember, self.rescan)
        self._watch = LibraryWatch(self._runner, self) if self._outside.watch else None
        self._connect()
        self.rescan()

    def _connect(self) -> None:
        self._scanning.found.connect(self._show)
        self._scanning.completed.connect(self._completed)
        self._scanning.busy_changed.connect(self.scanning_changed)
        self._queue.changed.connect(self.tasks_changed)
        self._queue.ended.connect(self.task_ended)
        self._update_check.changed.connect(self.updates_changed)
        if self._watch is not None:
            self._watch.changed.connect(self.rescan)

    def rescan(self) -> None:
        """Look again. A scan that waits already is enough."""
        self._scanning.start()

    # ---- folders

    def add_root(self, path: Path, done: Told[RootInfo]) -> None:
        """Show the models of a folder where they lie; ``done`` gets its figures or why it was not added."""

        def taken(root: LibraryRoot | VrambleError) -> None:
            if isinstance(root, VrambleError):
                done(root)
            else:
                self._after_scan(lambda: self._tell_root(root.id, done))

        self._changes.add(path, self.roots, taken)

    def remove_root(self, root_id: str) -> None:
        """Take a folder off the list; its files stay. One of another program is hidden."""
        self._changes.remove(root_id)
        self.rescan()

    def show_root(self, root_id: str) -> None:
        """Show a hidden folder again."""
        self._changes.show(root_id)
        self.rescan()

    # ---- deleting

    def plan_delete(self, model: InstalledModel, done: Told[Deletion]) -> None:
        """What deleting ``model`` would do; deletes nothing."""
        root = self._root_path(model)
        self._run(lambda: plan_deletion(model, root), done, rescan=False)

    def delete(self, model: InstalledModel, done: Told[int]) -> None:
        """Delete ``model`` for good; ``done`` gets the bytes freed or why it was not deleted."""
        root = self._root_path(model)
        self._run(lambda: carry_out(plan_deletion(model, root), root), done)

    def trash(self, model: InstalledModel, done: Told[int]) -> None:
        """Move ``model`` to the trash; ``done`` gets the bytes that are free once it is emptied.

        With the code ``no-trash`` nothing happened, and it can be deleted for good.
        """
        root = self._root_path(model)

        def finish(outcome: Trashed | VrambleError) -> None:
            if isinstance(outcome, VrambleError):
                done(outcome)
            else:
                self._trashed = outcome
                done(outcome.freed)

        self._run(lambda: trash(model, root, qt_trash), finish)

    def undo_trash(self, done: Told[None]) -> None:
        """Bring back what was moved to the trash last."""
        trashed, self._trashed = self._trashed, None
        if trashed is None:
            done(VrambleError("nothing-to-undo", "Nothing was moved to the trash."))
        else:
            self._run(lambda: put_back(trashed), done)

    # ---- long work

    def verify(self, models: Sequence[InstalledModel]) -> int:
        """Read every byte of ``models`` and compare; gives the task's id."""
        return self._chores.verify(models)

    def find_duplicates(self) -> int:
        """Hash models that look like duplicates; gives the task's id."""
        return self._chores.find_duplicates(self.models)

    def move(self, model: InstalledModel, root_id: str, done: Told[Path] | None = None) -> int:
        """Bring ``model`` to another folder of the library; gives the task's id. ``done`` gets where it is now.

        Raises:
            VrambleError: ``no-such-root``.
        """
        source, target = self._known_root(model.root), self._known_root(root_id)
        beside = (*self.models, *self.companions)
        return self._chores.move(model, source, target, beside, lambda outcome: tell_path(outcome, done))

    def import_files(
        self, paths: Iterable[Path], how: ImportMode, root_id: str = "", done: Told[Path] | None = None
    ) -> int:
        """Bring files, or all models of folders, into a folder of the library (the own one without ``root_id``).

        Raises:
            VrambleError: ``no-such-root``.
        """
        target = self._known_root(root_id or LibraryRoot(kind=RootKind.OWN, path=str(self._folder)).id)
        return self._chores.bring(tuple(paths), how, target, self.roots, lambda outcome: tell_path(outcome, done))

    def join(self, model: InstalledModel) -> int:
        """Put raw pieces together to the file that they are of; gives the task's id."""
        return self._chores.join(model)

    def share(self, model: InstalledModel, done: Told[Path] | None = None) -> int:
        """Let a duplicate and what it is a duplicate of be one file on disk; gives the task's id.

        Raises:
            VrambleError: ``not-the-same`` when it is no duplicate of anything here.
        """
        other = next((one for one in self.models if one.path == model.duplicate_of), None)
        if other is None:
            raise VrambleError("not-the-same", f"{model.label} is no duplicate.")
        return self._chores.share(model, other, lambda outcome: tell_path(outcome, done))

    def cancel(self, task_id: int) -> None:
        """End long work; what it was working on is as it was before."""
        self._queue.cancel(task_id)

    def dismiss(self, task_id: int) -> None:
        """Take ended work off the list."""
        self._queue.dismiss(task_id)

    def repair(self, model: InstalledModel) -> None:
        """Find the wrong bytes of ``model`` and fetch them again: a download of the queue.

        Raises:
            VrambleError: Nobody knows where it came from.
        """
        if self._outside.repair is None or not model.parts:
            raise VrambleError("no-repair", f"{model.label} cannot be repaired here.", "Download it again.")
        self._outside.repair(model.path, _origin(model), model.parts)

    # ---- newer files

    def check_updates(self, models: Sequence[InstalledModel] | None = None) -> None:
        """Ask the Hub whether the files of ``models`` (all) are others by now."""
        self._update_check.start(self.models if models is None else models)

    def ask_through(self, ask: Ask) -> None:
        """Ask the Hub by ``ask`` from now on."""
        self._update_check.ask_through(ask)

    def cancel_updates(self) -> None:
        """Ask no more."""
        self._update_check.cancel()

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
                self._after_scan(lambda: self._tell_model(outcome, done))

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

    def _run(self, work: Callable[[], T], done: Told[T], *, rescan: bool = True) -> None:
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

    def _remember(self, hashed: Sequence[Hashed]) -> None:
        when = self._outside.now()
        self._runner.run(lambda: self._survey.remember(hashed, when))

    def _after_scan(self, then: Callable[[], None]) -> None:
        self._after.append((self._scanning.start(), then))

    def _completed(self, number: int) -> None:
        due = [then for wanted, then in self._after if wanted <= number]
        self._after = [(wanted, then) for wanted, then in self._after if wanted > number]
        for then in due:
            then()

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


def _origin(model: InstalledModel) -> Origin | None:
    if model.repo is None or not model.file:
        return None
    sha256 = model.hashes[0] if model.hashes and model.checked is None else None
    return Origin(repo=model.repo, commit=model.commit, path=model.file, sha256=sha256 or None)
