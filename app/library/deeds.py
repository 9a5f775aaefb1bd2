"""What can be done with models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from app.jobs import Ok, Result, SerialRunner
from app.library.chores import Chores, tell_path
from app.library.facts import LibraryFacts
from app.library.outside import Outside
from app.library.settings import LibraryUseSettings
from app.library.trash import qt_trash
from app.library.updates import Ask
from engine.errors import VrambleError
from engine.library.deletion import carry_out, plan_deletion
from engine.library.hashing import Hashed
from engine.library.names import shown
from engine.library.origin import Origin
from engine.library.records import Deletion, InstalledModel
from engine.library.roots import LibraryRoot, RootKind
from engine.library.survey import checked_at
from engine.library.transfer import How as ImportMode
from engine.library.trash import Trashed, put_back, trash
from engine.library.work import Outcome

T = TypeVar("T")
Told = Callable[[T | VrambleError], None]


class LibraryDeeds(LibraryFacts):
    """Deleting, checking, moving, importing, mending. Work leaves the GUI thread; who asked is told once."""

    _outside: Outside
    _runner: SerialRunner
    _chores: Chores

    def rescan(self) -> None:
        """Look again. A scan that waits already is enough."""
        self._scanning.start()

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

        def finish(outcome: Outcome | VrambleError | None) -> None:
            if isinstance(outcome, Outcome):
                self._moved(model.path, outcome.paths[0])
            tell_path(outcome, done)

        return self._chores.move(model, source, target, beside, finish)

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

    def _moved(self, before: Path, after: Path) -> None:
        store = self._outside.settings
        if store is not None:
            store.put(store.get(LibraryUseSettings).with_move(shown(before), shown(after)))
        self.moved.emit(str(before), str(after))

    def _remember(self, hashed: Sequence[Hashed]) -> None:
        self._scanning.remember(checked_at(hashed, self._outside.now()))


def _origin(model: InstalledModel) -> Origin | None:
    if model.repo is None or not model.file:
        return None
    sha256 = model.hashes[0] if model.hashes and model.checked is None else None
    return Origin(repo=model.repo, commit=model.commit, path=model.file, sha256=sha256 or None)
