"""A local Hub, the hub service with a real child, and parts of it with a child that is cranked by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.hub.child import HubChild
from app.hub.pause import Pause
from app.hub.service import HubService
from app.jobs import ThreadExecutor
from engine.errors import VrambleError
from engine.hub.messages import Event, Failed, Found, Open, Opened, Search
from engine.hub.records import RepoPage, RepoSummary, SearchPage
from engine.library.listing import RepoListing
from tests.fakes.local_hub import LocalHub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def code(error: VrambleError | None) -> str:
    """Of an error that may not be there."""
    return "" if error is None else error.code


class World:
    """What the service is told from outside."""

    def __init__(self) -> None:
        self.offline = False
        self.extra: dict[str, str] = {}

    def environ(self) -> dict[str, str]:
        return {**os.environ, **self.extra}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def service(qapp: QApplication, hub: LocalHub, world: World, tmp_path: Path) -> Iterator[HubService]:
    # Destroyed here and not by the garbage collector, which may run in a thread of the hub.
    owner = QObject()
    made = HubService(tmp_path / "kept", ThreadExecutor("hub"), world.environ, lambda: world.offline, lambda: (), owner)
    yield made
    made.shutdown()
    shiboken6.delete(owner)


class Cranked(QObject):
    """In place of `HubChild`: remembers what was asked, answers when the test says so."""

    answered = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.asked: list[Search | Open] = []
        self.cancelled: list[int] = []
        self._last = 0

    def next_id(self) -> int:
        self._last += 1
        return self._last

    def ask(self, request: Search | Open) -> None:
        self.asked.append(request)

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)

    def answer(self, event: Event) -> None:
        self.answered.emit(event)

    def found(self, *names: str, cursor: str = "", kept: bool = False, problem: Failed | None = None) -> None:
        """Answer the last request with these rows."""
        page = SearchPage(rows=tuple(RepoSummary(repo=name) for name in names), cursor=cursor, read_at=5.0)
        self.answer(Found(id=self.asked[-1].id, page=page, kept=kept, problem=problem))

    def opened(self, repo: str, *, kept: bool = False, problem: Failed | None = None) -> None:
        page = RepoPage(summary=RepoSummary(repo=repo), listing=RepoListing(repo=repo))
        self.answer(Opened(id=self.asked[-1].id, page=page, kept=kept, problem=problem))

    def failed(self, code: str, retry_after: float | None = None) -> None:
        self.answer(self.failure(code, retry_after))

    def failure(self, code: str, retry_after: float | None = None) -> Failed:
        return Failed(id=self.asked[-1].id, code=code, message="It failed.", retry_after=retry_after)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A cranked child with the pause and the clock that it shares with what is tested."""

    def __init__(self, owner: QObject) -> None:
        self.owner, self.clock, self.offline = owner, Clock(), False
        self.cranked = Cranked(owner)
        self.child = cast("HubChild", self.cranked)
        self.pause = Pause(owner, self.clock)

    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        self.pause.look()


@pytest.fixture
def bench(qapp: QApplication) -> Iterator[Bench]:
    owner = QObject()
    yield Bench(owner)
    shiboken6.delete(owner)
