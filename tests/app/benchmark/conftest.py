"""A benchmark service on fake workers, with a chat's worker that is a stand-in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.bench.archive import Archive
from app.bench.service import BenchService
from app.bench.wish import Wish
from app.jobs import ThreadExecutor
from app.paths import Paths
from app.worker.connection import WorkerConnection
from engine.bench.records import Report
from engine.errors import VrambleError
from engine.memory.fit import fit_devices
from engine.protocol.types import LoadOptions
from tests.fakes.fake_worker import CPU, GPU, journal_entries, worker_command
from tests.ui.shell.standins import FakeWorker


class Options:
    """Options of all models, and what was remembered."""

    def __init__(self) -> None:
        self.kept: dict[Path, LoadOptions] = {}

    @property
    def remembered(self) -> Options:
        return self

    def options_for(self, path: Path) -> LoadOptions:
        return self.kept.get(path, LoadOptions())

    def remember(self, path: Path, options: LoadOptions) -> None:
        self.kept[path] = options


class ChatWorker(FakeWorker):
    """The chat's worker, and whether something waits for it."""

    idle = True


class Bench:
    """The service and what it said."""

    def __init__(self, folder: Path, script: dict[str, Any], qtbot: QtBot) -> None:
        self.journal_file = folder / "journal"
        environ = {
            **os.environ,
            "VRAMBLE_WORKER_COMMAND": worker_command({"journal": str(self.journal_file), **script}, folder),
        }
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        self.worker, self.options, self.qtbot = ChatWorker(), Options(), qtbot
        self.file = folder / "data/benchmarks.jsonl"
        self.archive = Archive(self.file, ThreadExecutor("bench"))
        self.link = WorkerConnection(paths, None, environ)
        self.service = BenchService(
            self.worker, self.link, self.archive, self.options, lambda: fit_devices((GPU, CPU)), folder
        )
        self.reports: list[Report] = []
        self.errors: list[VrambleError] = []
        self.service.finished.connect(self.reports.append)
        self.stops = 0
        self.service.stopped.connect(self._stopped)
        self.service.failed.connect(self.errors.append)
        self.model = folder / "model.gguf"

    def _stopped(self) -> None:
        self.stops += 1

    def start(self, **wish: Any) -> None:
        self.service.start(Wish(path=self.model, **wish))

    def wait(self) -> None:
        self.qtbot.waitUntil(lambda: not self.service.running, timeout=60_000)

    def measure(self, **wish: Any) -> Report:
        self.start(**wish)
        self.wait()
        assert not self.errors, self.errors[0].sentence
        return self.reports[-1]

    def frames(self, kind: str) -> list[dict[str, Any]]:
        """What the worker was sent."""
        entries = [entry.get("frame", {}) for entry in journal_entries(self.journal_file)]
        return [frame for frame in entries if frame.get("type") == kind]


MakeBench = Callable[..., Bench]


@pytest.fixture
def make_bench(tmp_path: Path, qtbot: QtBot) -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(**script: Any) -> Bench:
        made.append(Bench(tmp_path, script, qtbot))
        return made[-1]

    yield make
    for bench in made:
        bench.service.shutdown()
