"""Long work of the library, put into its queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.library.task_queue import TaskQueue, Work
from app.library.tasks import TaskKind
from engine.errors import VrambleError
from engine.library import work
from engine.library.duplicates import unsure
from engine.library.hashing import Hashed
from engine.library.joining import join, share
from engine.library.names import shown
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo, RootKind
from engine.library.transfer import How
from engine.library.work import Outcome

Done = Callable[[Outcome | VrambleError | None], None]

LAYOUTS = {RootKind.HUB_CACHE, RootKind.OLLAMA, RootKind.LEMONADE}
"""Kinds in which files of one folder do not belong together."""


class Chores:
    """Makes tasks of wishes. ``hashed`` gets what was read whole, ``changed`` is called when files changed."""

    def __init__(
        self, queue: TaskQueue, hashed: Callable[[Sequence[Hashed]], None], changed: Callable[[], None]
    ) -> None:
        self._queue = queue
        self._hashed = hashed
        self._changed = changed

    def verify(self, models: Sequence[InstalledModel], kind: TaskKind = TaskKind.VERIFY) -> int:
        """Read every byte and compare."""
        chosen = tuple(models)
        read: list[Hashed] = []

        def finish(outcome: Outcome | VrambleError | None) -> None:
            if not isinstance(outcome, Outcome):
                self._hashed(tuple(read))
                self._changed()

        return self._add(
            kind, _label(chosen), len(chosen), lambda progress: work.verify(chosen, progress, read), finish
        )

    def find_duplicates(self, models: Sequence[InstalledModel]) -> int:
        """Hash those that may be duplicates, as far as they never were."""
        return self.verify(unsure(models), TaskKind.COMPARE)

    def move(
        self, model: InstalledModel, source: RootInfo, target: RootInfo, beside: Sequence[InstalledModel], done: Done
    ) -> int:
        """Bring a model to another folder. ``beside``: everything in the library, for what goes along."""
        along = companions_of(model, beside)
        return self._add(
            TaskKind.MOVE, model.label, 1, lambda progress: work.move(model, source, target, progress, along), done
        )

    def bring(self, paths: Sequence[Path], how: How, target: RootInfo, roots: Sequence[RootInfo], done: Done) -> int:
        """Put files into a folder of the library."""
        chosen, all_roots = tuple(paths), tuple(roots)
        label = shown(chosen[0].name) if chosen else ""
        return self._add(
            TaskKind.IMPORT,
            label,
            len(chosen),
            lambda progress: work.bring(chosen, how, target, progress, all_roots),
            done,
        )

    def join(self, model: InstalledModel) -> int:
        """Put raw pieces together."""
        return self._add(TaskKind.JOIN, model.label, 1, lambda progress: join(model, progress))

    def share(self, model: InstalledModel, other: InstalledModel, done: Done) -> int:
        """Let two that are the same be one file on disk."""
        return self._add(TaskKind.SHARE, model.label, 1, lambda progress: share(model, other, progress), done)

    def _add(self, kind: TaskKind, label: str, count: int, work_: Work, done: Done | None = None) -> int:
        def finish(outcome: Outcome | VrambleError | None) -> None:
            if isinstance(outcome, Outcome):
                self._hashed(outcome.hashed)
            if done is not None:
                done(outcome)
            self._changed()

        return self._queue.add(kind, label, count, work_, finish)


def companions_of(model: InstalledModel, beside: Sequence[InstalledModel]) -> tuple[Path, ...]:
    """Projectors and the like that lie in the folder of ``model``, when no other model does."""
    if model.source in LAYOUTS:
        return ()
    there = [other for other in beside if other.folder == model.folder and other.path != model.path]
    if any(other.can_chat for other in there):
        return ()
    return tuple(part for other in there if not other.can_chat for part in other.parts)


def _label(models: Sequence[InstalledModel]) -> str:
    return models[0].label if len(models) == 1 else ""


def tell_path(outcome: Outcome | VrambleError | None, done: Callable[[Path | VrambleError], None] | None) -> None:
    """Give ``done`` where the first model is now, or the error; nothing when it was cancelled."""
    if done is None or outcome is None:
        return
    if isinstance(outcome, VrambleError):
        done(outcome)
    elif outcome.paths:
        done(outcome.paths[0])
