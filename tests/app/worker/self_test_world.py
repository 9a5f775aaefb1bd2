"""A worker service whose models are tested, on the scripted worker."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notice, Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.connection import WorkerConnection
from app.worker.self_test import NOTICE, SelfTests
from app.worker.service import WorkerService
from app.worker.settings import WorkerSettings
from app.worker.verdicts import SelfTestEntry, SelfTestSettings
from tests.app.worker.conftest import Bench
from tests.fakes.fake_worker import worker_command


class World(Bench):
    """A bench whose models are tested. ``room``: bytes of RAM that are said to be available."""

    def __init__(
        self,
        folder: Path,
        qtbot: QtBot,
        script: dict[str, Any],
        environ: dict[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.journal = journal = folder / "journal.jsonl"
        command = worker_command({"journal": str(journal), **script}, folder)
        environ = environ or {**os.environ, "VRAMBLE_WORKER_COMMAND": command}
        notices = Notices()
        self.files = SerialRunner(ThreadExecutor("files"))
        self.settings = SettingsStore(folder / "settings.json", self.files, notices)
        self.settings.put(WorkerSettings(**settings))
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        service = WorkerService(
            paths, notices=notices, environ=environ, settings=self.settings, layers=lambda _path: 32
        )
        super().__init__(service, notices, qtbot, journal)
        self.room: int | None = 64 << 30
        self.link = WorkerConnection(paths, None, environ, None, self.settings)
        self.tests = SelfTests(service, self.settings, notices, self.link, self.files, available=lambda: self.room)
        self.judged: list[SelfTestEntry] = []
        self.tests.judged.connect(self.judged.append)

    def end(self) -> None:
        """Processes and objects, in order."""
        self.tests.shutdown()
        self.service.shutdown()
        self.files.close()
        for part in (self.tests, self.link, self.service, self.settings):
            part.deleteLater()

    @property
    def kept(self) -> tuple[SelfTestEntry, ...]:
        return self.settings.get(SelfTestSettings).entries

    @property
    def warnings(self) -> list[Notice]:
        return [notice for notice in self.notices if notice.key == NOTICE]

    def until_judged(self, outcome: str, count: int = 1) -> SelfTestEntry:
        self.until(lambda: len(self.judged) == count)
        assert self.judged[-1].outcome == outcome, self.judged[-1]
        return self.judged[-1]

    def tested(self) -> tuple[int, int]:
        """How many tests of a loaded model, and how many references."""
        frames = self.received("self_test")
        references = sum(1 for frame in frames if frame.get("reference"))
        return len(frames) - references, references

    def until_tested(self, models: int, references: int) -> None:
        self.until(lambda: self.tested() == (models, references))

    def press(self, label: str) -> None:
        next(action for action in self.warnings[-1].actions if action.label == label).run()
