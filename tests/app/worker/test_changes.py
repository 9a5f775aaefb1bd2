"""What the running engine has not got yet, on a fake worker process with the real store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner
from app.notices import Notices
from app.paths import Paths
from app.settings.records import BackendSettings, EngineSettings
from app.settings.store import SettingsStore
from app.worker.changes import EngineChanges
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.frames import Loaded
from tests.fakes.fake_worker import worker_command

MODEL = Path("/models/tiny.gguf")


class Never:
    """An executor that does nothing: no file is written here."""

    def submit(self, work: Callable[[], None]) -> None:
        pass

    def close(self) -> None:
        pass


class Engine:
    """A real service on a fake process, the store, and the object under test."""

    def __init__(self, qtbot: QtBot, folder: Path, **environ: str) -> None:
        self.qtbot = qtbot
        notices = Notices()
        self.store = SettingsStore(folder / "settings.json", SerialRunner(Never()), notices)
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        self._seen = folder / "environment"
        script = folder / "worker.sh"
        script.write_text(f"env -0 > {self._seen}\nexec {worker_command({}, folder)}\n")
        given = {**os.environ, "VRAMBLE_WORKER_COMMAND": f"sh {script}", **environ}
        self.worker = WorkerService(paths, notices=notices, environ=given, settings=self.store)
        self.changes = EngineChanges(
            self.worker, self.store, lambda _path: self.store.get(EngineSettings).load_options()
        )
        self.reloads: list[Path] = []
        self.changes.reload_wanted.connect(self.reloads.append)

    def until(self, ready: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(ready, timeout=60_000)

    def start(self) -> None:
        self.worker.start()
        self.until(lambda: self.worker.state is WorkerState.IDLE)

    def load(self) -> None:
        ends: list[Any] = []
        self.worker.load(MODEL, self.store.get(EngineSettings).load_options(), ends.append)
        self.until(lambda: bool(ends))
        assert isinstance(ends[0], Loaded)

    def change(self, record: type, **values: Any) -> None:
        self.store.put(msgspec.structs.replace(self.store.get(record), **values))

    def environment(self) -> dict[str, str]:
        """What the last started process had."""
        entries = self._seen.read_text().split("\0")
        return dict(entry.split("=", 1) for entry in entries if entry)


@pytest.fixture
def make_engine(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    made: list[Engine] = []

    def make(**environ: str) -> Engine:
        made.append(Engine(qtbot, tmp_path, **environ))
        return made[-1]

    yield make
    for engine in made:
        engine.worker.shutdown()
        engine.worker.deleteLater()


def test_the_next_process_gets_what_was_set(make_engine) -> None:
    engine = make_engine(HIP_VISIBLE_DEVICES="-1", GGML_VK_DISABLE_F16="from outside", MANGOHUD="1")
    engine.change(
        BackendSettings,
        off=("RPC",),
        environment={"Vulkan": {"GGML_VK_DISABLE_F16": "1"}, "RPC": {"RPC_SWITCH": "1"}},
        ignored=("HIP_VISIBLE_DEVICES",),
    )
    engine.start()
    environment = engine.environment()
    assert environment["VRAMBLE_BACKENDS_OFF"] == "RPC"
    assert environment["GGML_VK_DISABLE_F16"] == "1"
    assert not environment.keys() & {"HIP_VISIBLE_DEVICES", "RPC_SWITCH", "MANGOHUD"}


def test_a_change_of_the_backends_needs_a_restart_and_taking_it_back_does_not(make_engine) -> None:
    engine = make_engine()
    engine.change(BackendSettings, off=("RPC",))
    assert not engine.changes.restart_needed, "nothing runs yet"
    engine.start()
    assert not engine.changes.restart_needed
    engine.change(BackendSettings, off=("RPC", "Vulkan"))
    assert engine.changes.restart_needed
    engine.change(BackendSettings, off=("RPC",))
    assert not engine.changes.restart_needed


def test_a_restart_gives_the_new_process_the_settings(make_engine) -> None:
    engine = make_engine()
    engine.start()
    before = engine.worker.pid
    engine.change(BackendSettings, off=("Vulkan",))
    engine.changes.restart()
    engine.until(lambda: engine.worker.state is WorkerState.IDLE and engine.worker.pid != before)
    assert engine.environment()["VRAMBLE_BACKENDS_OFF"] == "Vulkan"
    assert not engine.changes.restart_needed
    assert engine.reloads == []


def test_a_restart_brings_the_model_back(make_engine) -> None:
    engine = make_engine()
    engine.load()
    engine.changes.restart()
    engine.until(lambda: engine.reloads == [MODEL])
    assert engine.worker.state is WorkerState.STOPPED
    engine.load()
    engine.worker.stop()
    engine.until(lambda: engine.worker.state is WorkerState.STOPPED)
    assert engine.reloads == [MODEL], "an end that nobody asked for here starts nothing"


def test_other_options_concern_only_a_loaded_model(make_engine) -> None:
    engine = make_engine()
    engine.change(EngineSettings, n_ctx=2048)
    assert not engine.changes.reload_needed
    engine.load()
    assert not engine.changes.reload_needed
    engine.change(EngineSettings, last_model="/models/other.gguf")
    assert not engine.changes.reload_needed
    engine.change(EngineSettings, n_ctx=8192)
    assert engine.changes.reload_needed
    engine.change(EngineSettings, n_ctx=2048)
    assert not engine.changes.reload_needed


def test_changes_are_told(make_engine, qtbot: QtBot) -> None:
    engine = make_engine()
    engine.start()
    with qtbot.waitSignal(engine.changes.changed):
        engine.change(BackendSettings, off=("Vulkan",))
