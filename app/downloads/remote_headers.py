"""What models on the Hub need, from their headers: a few children at a time, and what was read is kept."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.downloads.child import Child
from app.jobs import Err, Executor, Result, SerialRunner
from engine.downloads.messages import Event, FetchHeaders, HeadersFetched, Limits
from engine.library.listing import RepoFile, RepoListing

if TYPE_CHECKING:
    from engine.memory.fit import FitModel

ACTIVE = 2
"""Children at the same time."""

PATIENCE = Limits(retries=1, first_wait_s=0.5)
"""Nobody waits long for a badge: without a network it stays unknown, and another look tries again."""


@dataclass(frozen=True)
class Wanted:
    """One model of one repository."""

    repo: str
    revision: str
    file: RepoFile

    @property
    def name(self) -> str:
        """Where it is kept."""
        from engine.memory.fit.remote import cache_name

        return cache_name(self.repo, self.revision, self.file.path, self.file.size)


class RemoteHeaders(QObject):
    """Reads headers of models that are not here.

    Args:
        folder: Keeps what was read.
        executor: For files.
        environ: What the environment of a child is made of; None: this process's own.

    Attributes:
        read: One more is known, or could not be read.
    """

    read = Signal()

    def __init__(
        self,
        folder: Path,
        executor: Executor,
        parent: QObject | None = None,
        limits: Limits = PATIENCE,
        environ: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        super().__init__(parent)
        self._folder, self._limits, self._environ = folder, limits, environ
        self._runner = SerialRunner(executor, self)
        self._known: dict[Wanted, FitModel | None] = {}
        self._waiting: deque[Wanted] = deque()
        self._active: dict[Wanted, Child | None] = {}
        self._children: set[Child] = set()
        self._closed = False

    def model(self, listing: RepoListing, file: RepoFile) -> FitModel | None:
        """What is known of ``file``; None while nothing is, and when it could not be read."""
        return self._known.get(wanted(listing, file))

    def is_settled(self, listing: RepoListing, file: RepoFile) -> bool:
        """It was read, or could not be."""
        return wanted(listing, file) in self._known

    def ask(self, listing: RepoListing, file: RepoFile) -> None:
        """Read the header of ``file``, unless that was tried."""
        one = wanted(listing, file)
        if not self._closed and one not in self._known and one not in self._active and one not in self._waiting:
            self._waiting.append(one)
            self._pump()

    def leave(self) -> None:
        """Nobody looks at these files any more. What could not be read may be tried again later."""
        self._waiting.clear()
        for child in self._active.values():
            if child is not None:
                child.kill()
        self._known = {one: model for one, model in self._known.items() if model is not None}

    def shutdown(self) -> None:
        """End all children before this returns. Only for quitting."""
        self._closed = True
        self._waiting.clear()
        for child in tuple(self._children):
            child.shutdown()
        self._children.clear()
        self._runner.close()

    def _pump(self) -> None:
        while self._waiting and len(self._active) < ACTIVE and not self._closed:
            one = self._waiting.popleft()
            self._active[one] = None
            self._find(one)

    def _find(self, one: Wanted) -> None:
        folder, name = self._folder, one.name

        def work() -> FitModel | Path:
            from engine.memory.fit.remote import begin_reading, find_kept

            return find_kept(folder, name) or begin_reading(folder)

        self._runner.run(work, lambda result: self._found(one, result))

    def _found(self, one: Wanted, result: Result[FitModel | Path]) -> None:
        if isinstance(result, Err):
            if not isinstance(result.error, OSError):
                raise result.error
            self._settle(one, None)
        elif isinstance(result.value, Path):
            self._fetch(one, result.value)
        else:
            self._settle(one, result.value)

    def _fetch(self, one: Wanted, headers: Path) -> None:
        child = Child(self, self._environ() if self._environ is not None else None)
        self._children.add(child)
        self._active[one] = child
        answers: list[Event] = []
        child.ended.connect(answers.append)
        child.gone.connect(lambda gone: self._gone(one, gone, headers, answers))
        child.start(
            FetchHeaders(
                folder=os.fsencode(headers),
                repo=one.repo,
                files=one.file.parts,
                revision=one.revision,
                limits=self._limits,
            )
        )

    def _gone(self, one: Wanted, child: Child, headers: Path, answers: list[Event]) -> None:
        self._children.discard(child)
        child.deleteLater()
        answer = answers[0] if answers else None
        path = Path(os.fsdecode(answer.path)) if isinstance(answer, HeadersFetched) else None
        folder, name = self._folder, one.name

        def work() -> FitModel | None:
            from engine.memory.fit.remote import end_reading

            return end_reading(headers, path, folder, name)

        def taken(result: Result[FitModel | None]) -> None:
            if isinstance(result, Err):
                raise result.error
            self._settle(one, result.value, known=bool(answers))

        self._runner.run(work, taken)

    def _settle(self, one: Wanted, model: FitModel | None, *, known: bool = True) -> None:
        """``known``: not only given up because nobody looked any more."""
        self._active.pop(one, None)
        if known:
            self._known[one] = model
        self._pump()
        self.read.emit()


def wanted(listing: RepoListing, file: RepoFile) -> Wanted:
    """The same file of the same commit is the same model."""
    return Wanted(listing.repo, listing.commit or listing.revision, file)
