"""The load dialog's figures from a real engine, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.fit.ram_speed import ROOM, RamProbe
from app.jobs import SerialRunner
from app.load.dry_runs import DryRuns
from app.load.service import LoadService
from app.notices import Notices
from app.paths import find_paths
from app.settings.store import SettingsStore
from app.worker.connection import WorkerConnection
from engine.memory.fit import fit_devices
from engine.protocol.types import LoadOptions
from tests.app.chat.cranked import Cranked
from tests.engine.worker.driver import starter_model
from tests.ui.shell.standins import PROCESSOR

DEVICES = (PROCESSOR,)


class Place:
    def __init__(self, folder: Path, owner: QObject) -> None:
        self.headers = Cranked()
        store = SettingsStore(folder / "settings.json", SerialRunner(Cranked(), owner), Notices())
        paths = find_paths({"VRAMBLE_HOME": str(folder)})
        self.speeds: list[float] = []
        probe = RamProbe(lambda: False, lambda: True, lambda: ROOM, self.speeds.append)
        self.runs = DryRuns(WorkerConnection(paths, None, None, owner), owner, probe)
        self.load = LoadService(
            store, self.headers, lambda: DEVICES, lambda: fit_devices(DEVICES), lambda: (), owner, self.runs
        )


@pytest.fixture
def place(tmp_path: Path, qtbot: QtBot) -> Iterator[Place]:
    owner = QObject()
    made = Place(tmp_path, owner)
    yield made
    made.load.shutdown()
    shiboken6.delete(owner)


def test_the_engine_makes_the_forecast_exact(place: Place, qtbot: QtBot) -> None:
    path, options = starter_model(), LoadOptions(n_ctx=2048, device="cpu")
    place.load.read_header(path)
    place.headers.drain()
    before = place.load.forecast(path, options)
    assert before is not None
    assert not before.exact
    assert place.load.refine(path, options)
    qtbot.waitUntil(lambda: not place.load.is_refining(path, options), timeout=60_000)
    after = place.load.forecast(path, options)
    assert after is not None
    assert after.exact
    assert after.everything == pytest.approx(before.everything, rel=0.03)
    other = place.load.forecast(path, LoadOptions(n_ctx=4096, device="cpu"))
    assert other is not None
    assert not other.exact
    assert not place.load.refine(path, options), "it is known"
    qtbot.waitUntil(lambda: bool(place.speeds), timeout=60_000)
    assert place.speeds[0] > 0, "the speed of the RAM, in the same process"
    place.load.leave_refining()
