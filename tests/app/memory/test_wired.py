"""The real wiring: samples reach the watch over a loaded model, and the engine's word reaches the samples."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.memory.history import MarkerKind
from app.memory.parking import NOTICE as PARKED
from app.memory.pressure import NOTICE
from app.notices import Notice
from app.paths import Paths
from app.wiring import build
from engine.client.session import WorkerState
from engine.memory.records import MemorySnapshot, RamMemory
from tests.app.worker.conftest import Answer
from tests.fakes.fake_worker import worker_command
from tests.fakes.sysroot import build_sysroot

GIB = 1 << 30


def test_a_shortage_is_told_and_the_model_parked_and_loaded_again(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command({}, tmp_path))
    monkeypatch.setenv("VRAMBLE_SYSROOT", str(build_sysroot("no_gpu", tmp_path / "root")))
    services = build(Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state"))
    told: list[Notice] = []
    services.notices.posted.connect(told.append)
    answer = Answer()
    services.worker.load(Path("/models/tiny.gguf"), services.load.options_for(Path("/x")), answer.ends.append)
    qtbot.waitUntil(lambda: bool(answer.ends), timeout=60_000)
    assert services.memory.watched, "a loaded model is watched over without a window"
    qtbot.waitUntil(lambda: services.memory.snapshot is not None, timeout=60_000)
    snapshot = services.memory.snapshot
    assert snapshot is not None
    assert [gpu.name for gpu in snapshot.reported] == ["Fake Radeon"], "the kernel here knows no card"
    services.pressure._loaded_at = float("-inf")
    for second in range(6):
        ram = RamMemory(total=16 * GIB, available=GIB // 2, swap_free=4 * GIB)
        services.memory.sampled.emit(MemorySnapshot(gpus=(), ram=ram, taken=snapshot.taken + second))
    (notice,) = [notice for notice in told if notice.key == NOTICE]
    notice.actions[0].run()
    qtbot.waitUntil(lambda: services.worker.state is WorkerState.STOPPED, timeout=60_000)
    assert [services.memory.watched] == [False]
    (parked,) = [notice for notice in told if notice.key == PARKED]
    parked.actions[0].run()
    qtbot.waitUntil(lambda: services.worker.model is not None, timeout=60_000)
    assert [marker.kind for marker in services.memory.history.markers] == [
        MarkerKind.LOAD,
        MarkerKind.UNLOAD,
        MarkerKind.LOAD,
    ]
    services.shutdown()
    services.lifetime.deleteLater()
