"""What the library tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.library.scanning import Scanning
from app.library.task_queue import TaskQueue
from app.library.tasks import LibraryTask
from app.library.updates import UpdateCheck
from engine.errors import VrambleError
from engine.library.records import InstalledModel, ModelUpdate, ScanResult
from engine.library.roots import RootInfo
from engine.library.trash import Trashed


class LibraryFacts(QObject):
    """The models on this machine, as of the last scan. The files are the truth.

    Attributes:
        models_changed: `models`, `companions` or `folder_missing` are others now.
        scanning_changed: A scan began or ended.
        roots_changed: `roots` or `hidden_roots` are others now.
        tasks_changed: `tasks` is another tuple; at most four times a second.
        task_ended: A `LibraryTask` that is done, failed or was cancelled.
        moved: A model was brought to another folder: its path before and after, as texts.
        updates_changed: `updates`, `checking_updates` or `update_problem` is another one.
    """

    models_changed = Signal()
    scanning_changed = Signal(bool)
    roots_changed = Signal()
    tasks_changed = Signal()
    task_ended = Signal(object)
    updates_changed = Signal()
    moved = Signal(str, str)

    _scanning: Scanning
    _queue: TaskQueue
    _update_check: UpdateCheck

    def __init__(self, models_folder: Path, starter: Path | None, parent: QObject | None) -> None:
        """The parts that know are made by who inherits."""
        super().__init__(parent)
        self._folder = models_folder
        self._starter = starter
        self._result = ScanResult()
        self._trashed: Trashed | None = None

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
    def roots(self) -> tuple[RootInfo, ...]:
        """Folders that are shown: the own one, those that were added, those of other programs."""
        return self._result.roots

    @property
    def hidden_roots(self) -> tuple[RootInfo, ...]:
        """Folders of other programs that were taken off the list."""
        return self._result.hidden

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
        return self._scanning.busy

    @property
    def has_starter(self) -> bool:
        """The installation brought a starter model."""
        return self._starter is not None

    def is_starter(self, model: InstalledModel) -> bool:
        """Whether ``model`` is the starter model, of which the installation keeps its own copy."""
        return self._starter is not None and model.path.name == self._starter.name

    def root_of(self, model: InstalledModel) -> RootInfo | None:
        """The folder of the library that ``model`` lies in."""
        return self._root(model.root)

    @property
    def can_undo_trash(self) -> bool:
        """Something was moved to the trash and not brought back."""
        return self._trashed is not None

    @property
    def tasks(self) -> tuple[LibraryTask, ...]:
        """Long work that was begun and not dismissed, oldest first."""
        return self._queue.tasks

    @property
    def updates(self) -> Mapping[Path, ModelUpdate]:
        """Newer files that the last check found, by the path of the model here."""
        return self._update_check.updates

    @property
    def checking_updates(self) -> bool:
        """A check is going on."""
        return self._update_check.checking

    @property
    def update_problem(self) -> VrambleError | None:
        """Why the last check ended early."""
        return self._update_check.problem

    @property
    def updates_checked_at(self) -> float | None:
        """When the last whole check ended, in seconds since 1970."""
        return self._update_check.checked_at

    def _root(self, root_id: str) -> RootInfo | None:
        return next((root for root in self._result.roots if root.id == root_id), None)

    def _known_root(self, root_id: str) -> RootInfo:
        root = self._root(root_id)
        if root is None:
            raise VrambleError("no-such-root", "This folder is not in the library.", "Choose another one.")
        return root

    def _root_path(self, model: InstalledModel) -> Path:
        root = self._root(model.root)
        return root.path if root is not None else self._folder
