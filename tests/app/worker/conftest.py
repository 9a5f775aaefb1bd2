"""A worker service on the fake worker, and a listener that records what the service says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.notices import Notice, Notices
from app.paths import Paths
from app.worker.service import WorkerService
from engine.client.session import WorkerDeath, WorkerState
from engine.protocol.frames import Delta, Failed, Finished, Loaded, Progress
from engine.protocol.types import ChatMessage, LoadOptions, ModelInfo, Sampling
from tests.fakes.fake_worker import journal_entries, worker_command

MODEL = Path("/models/tiny.gguf")
OTHER = Path("/models/other.gguf")


@dataclass
class Answer:
    """What one request reported."""

    id: int = 0
    deltas: list[Delta] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    ends: list[Loaded | Finished | Failed] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas)

    @property
    def end(self) -> Loaded | Finished | Failed:
        (only,) = self.ends
        return only

    @property
    def failure(self) -> str:
        """Code of the failure it ended in; empty when it did not."""
        return self.end.code if isinstance(self.end, Failed) else ""


class Bench:
    """The service under test, its signals as lists, and short ways to use it."""

    def __init__(self, service: WorkerService, notices: Notices, qtbot: QtBot, journal: Path) -> None:
        self.service = service
        self.qtbot = qtbot
        self._journal = journal
        self.states: list[WorkerState] = []
        self.progress: list[float] = []
        self.models: list[ModelInfo | None] = []
        self.speeds: list[float | None] = []
        self.deaths: list[WorkerDeath] = []
        self.notices: list[Notice] = []
        self.withdrawn: list[str] = []
        service.state_changed.connect(self.states.append)
        service.load_progress.connect(self.progress.append)
        service.model_changed.connect(self.models.append)
        service.speed_changed.connect(self.speeds.append)
        service.died.connect(self.deaths.append)
        notices.posted.connect(self.notices.append)
        notices.withdrawn.connect(self.withdrawn.append)

    def load(self, path: Path = MODEL, options: LoadOptions | None = None) -> Answer:
        answer = Answer()
        answer.id = self.service.load(path, options or LoadOptions(), answer.ends.append)
        return answer

    def ask(
        self, text: str = "one two three", max_tokens: int | None = None, sampling: Sampling | None = None
    ) -> Answer:
        answer = Answer()
        answer.id = self.service.generate(
            [ChatMessage(role="user", content=text)],
            sampling or Sampling(),
            max_tokens,
            (),
            answer.deltas.append,
            answer.progress.append,
            answer.ends.append,
        )
        return answer

    def until(self, condition: Callable[[], bool], timeout: int = 60_000) -> None:
        self.qtbot.waitUntil(condition, timeout=timeout)

    def until_ended(self, *answers: Answer) -> None:
        self.until(lambda: all(answer.ends for answer in answers))

    def until_state(self, state: WorkerState) -> None:
        self.until(lambda: self.service.state is state)

    def starts(self) -> int:
        """How many worker processes were started."""
        return sum(1 for entry in journal_entries(self._journal) if entry.get("start"))

    def received(self, kind: str) -> list[dict[str, Any]]:
        """Frames of one kind that the worker got."""
        frames = [entry["frame"] for entry in journal_entries(self._journal) if "frame" in entry]
        return [frame for frame in frames if frame["type"] == kind]


@pytest.fixture
def make_bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Builds a bench for a script of the fake worker, or for another ``command`` in its place."""
    made: list[Bench] = []

    def make(command: str = "", **script: Any) -> Bench:
        journal = tmp_path / f"journal-{len(made)}.jsonl"
        environ = {
            **os.environ,
            "VRAMBLE_WORKER_COMMAND": command or worker_command({"journal": str(journal), **script}, tmp_path),
        }
        notices = Notices()
        paths = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state")
        service = WorkerService(paths, notices=notices, environ=environ)
        bench = Bench(service, notices, qtbot, journal)
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.service.shutdown()
        bench.service.deleteLater()
