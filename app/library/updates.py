"""Asks the Hub whether installed models have newer files."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from engine.errors import VrambleError
from engine.library.listing import RepoListing
from engine.library.records import InstalledModel, ModelUpdate
from engine.library.updates import can_be_asked, find_updates

ABOUT_ONE = {"hub-no-repo", "hub-gated", "hub-not-accepted", "hub-forbidden", "hub-no-revision", "repo-name"}
"""Codes that say something of one repository; after others there is no use in asking on."""


class HasListing(Protocol):
    """What the Hub's answer must hold."""

    @property
    def listing(self) -> RepoListing:
        """Files of the repository."""


Ask = Callable[[str, Callable[[HasListing | VrambleError], None]], None]
"""Asks for one repository by its name; the answer comes later, once."""


class UpdateCheck(QObject):
    """One repository after the other, only when the user wants to know.

    Attributes:
        changed: `updates`, `checking` or `problem` is another one.
    """

    changed = Signal()

    def __init__(self, ask: Ask | None, parent: QObject | None = None, clock: Callable[[], float] = time.time) -> None:
        """Without ``ask`` nothing is ever found."""
        super().__init__(parent)
        self._ask = ask
        self._clock = clock
        self._waiting: deque[str] = deque()
        self._models: dict[str, list[InstalledModel]] = {}
        self._updates: dict[Path, ModelUpdate] = {}
        self._basis: dict[Path, tuple[str | None, int]] = {}
        self._round = 0
        self.checking = False
        self.problem: VrambleError | None = None
        self.checked_at: float | None = None

    @property
    def updates(self) -> Mapping[Path, ModelUpdate]:
        """By the path of the installed model."""
        return self._updates

    def ask_through(self, ask: Ask) -> None:
        """Ask by ``ask`` from now on."""
        self._ask = ask

    def start(self, models: Iterable[InstalledModel]) -> None:
        """Ask for the repositories of ``models``; what an earlier check found of them is replaced."""
        self._models = {}
        for model in models:
            if can_be_asked(model) and model.repo is not None:
                self._models.setdefault(model.repo, []).append(model)
        self._waiting = deque(sorted(self._models))
        self._round += 1
        self.problem = None
        self._next()

    def forget_missing(self, models: Iterable[InstalledModel]) -> None:
        """Drop what was found for files that are gone or are others by now."""
        here = {model.path: _bytes_of(model) for model in models}
        kept = {path: update for path, update in self._updates.items() if here.get(path) == self._basis[path]}
        if kept != self._updates:
            self._updates = kept
            self.changed.emit()

    def cancel(self) -> None:
        """Ask no more."""
        self._waiting.clear()
        self._round += 1
        if self.checking:
            self.checking = False
            self.changed.emit()

    def _next(self) -> None:
        if self._ask is None or not self._waiting:
            self.checking = False
            if self._ask is not None and self.problem is None:
                self.checked_at = self._clock()
            self.changed.emit()
            return
        self.checking = True
        repo, number = self._waiting.popleft(), self._round
        self.changed.emit()
        self._ask(repo, lambda answer: self._take(repo, number, answer))

    def _take(self, repo: str, number: int, answer: HasListing | VrambleError) -> None:
        if number != self._round:
            return
        models = self._models.get(repo, [])
        if isinstance(answer, VrambleError):
            if answer.code not in ABOUT_ONE:
                self.problem = answer
                self._waiting.clear()
        else:
            for model in models:
                self._updates.pop(model.path, None)
            found = find_updates(models, answer.listing, self._clock())
            self._updates.update((update.path, update) for update in found)
            self._basis.update((model.path, _bytes_of(model)) for model in models)
        self._next()


def _bytes_of(model: InstalledModel) -> tuple[str | None, int]:
    """Another value when the model was downloaded again."""
    return model.commit, model.size_bytes
