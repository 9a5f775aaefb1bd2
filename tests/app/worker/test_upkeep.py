"""The real wiring: who looks after the worker gets what it needs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.notices import Notice
from app.paths import Paths
from app.wiring import build
from app.worker.freed import NOTICE
from engine.client.session import WorkerState
from engine.memory.records import MemorySnapshot
from tests.app.worker.conftest import Answer
from tests.engine.memory.test_freed import BEFORE, DESKTOP, sample
from tests.fakes.fake_worker import worker_command


def test_samples_reach_the_check_of_freed_memory_and_sleep_the_check_of_the_model(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command({}, tmp_path))
    services = build(Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state"))
    told: list[Notice] = []
    services.notices.posted.connect(told.append)
    now = [100.0]
    services.upkeep.freed._clock = lambda: now[0]
    monkeypatch.setattr("app.power.sleep.open_bus", lambda _address: "")
    answer = Answer()
    services.worker.load(Path("/models/tiny.gguf"), services.load.options_for(Path("/x")), answer.ends.append)
    qtbot.waitUntil(lambda: bool(answer.ends), timeout=60_000)
    assert services.sleep._timer.isActive()
    services.sleep.resumed.emit(600.0)
    assert services.upkeep.resume.checking
    qtbot.waitUntil(lambda: not services.upkeep.resume.checking, timeout=60_000)
    assert services.upkeep.idle._timer.isActive()

    services.memory.sampled.emit(with_time(BEFORE, 100.0))
    services.worker.unload()
    qtbot.waitUntil(lambda: services.worker.state is WorkerState.STOPPED, timeout=60_000)
    services.memory.sampled.emit(with_time(sample(7, DESKTOP), 106.0))
    assert [notice.key for notice in told] == [NOTICE]
    services.shutdown()
    services.lifetime.deleteLater()


def with_time(snapshot: MemorySnapshot, taken: float) -> MemorySnapshot:
    """``snapshot`` at another moment."""
    return msgspec.structs.replace(snapshot, taken=taken)
