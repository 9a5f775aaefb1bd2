"""The settings window over the real store; the engine, the disk and the doctor do what the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.backup.service import BackupService
from app.doctor.service import DoctorService
from app.jobs import SerialRunner
from app.notices import Notices
from app.paths import Paths
from app.settings.look import DiskLook
from app.settings.records import BackendSettings, EngineSettings
from app.settings.store import SettingsStore
from app.worker.changes import EngineChanges
from engine.client.session import WorkerState
from engine.protocol.frames import Hello
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind
from tests.ui.shell.standins import FakeChat, FakeWorker
from ui.settings.window import SettingsWindow
from ui.theme import Theme

T = TypeVar("T", bound=QWidget)

GIB = 1 << 30
FIRST, SECOND, GONE = "0000:03:00.0", "0000:0a:00.0", "0000:99:00.0"
ENVIRON = {"HIP_VISIBLE_DEVICES": "-1", "MANGOHUD": "1", "HOME": "/home/somebody"}


def device(id_: str, backend: str, pci: str | None, kind: DeviceKind = DeviceKind.GPU, **changes: Any) -> DeviceInfo:
    values: dict[str, Any] = {"name": f"Radeon {pci}", "memory_total": 16 * GIB, "memory_free": GIB, "usable": True}
    return DeviceInfo(id=id_, backend=backend, pci=pci, kind=kind, **{**values, **changes})


HELLO = Hello(
    protocol=1,
    pid=4711,
    engine="llama-cpp-python 1.2.3",
    backends=(
        BackendInfo(name="CPU", path="/lib/libggml-cpu.so", loaded=True),
        BackendInfo(name="Vulkan", path="/lib/libggml-vulkan.so", loaded=True),
        BackendInfo(name="ROCm", path="/b/libggml-hip.so", loaded=False, error="libamdhip64.so.6: not found"),
    ),
    devices=(
        device("Vulkan0", "Vulkan", FIRST),
        device("ROCm0", "ROCm", FIRST),
        device("Vulkan1", "Vulkan", SECOND, memory_total=None),
        device("Software0", "Vulkan", None, DeviceKind.SOFTWARE, name="llvmpipe", usable=False, reason="Too slow."),
        device("CPU", "CPU", None, DeviceKind.CPU, name="Ryzen"),
    ),
)


class Cranked:
    """Work waits until the test wants it."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def submit(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def close(self) -> None:
        self.waiting.clear()

    def crank(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


class StoppableWorker(FakeWorker):
    """The stand-in, which can also be stopped."""

    def stop(self) -> None:
        self.set_model(None)
        self.set_state(WorkerState.STOPPED)


@dataclass
class FakeServices:
    """What the window needs of `app.wiring.Services`."""

    paths: Paths
    settings: SettingsStore
    worker: StoppableWorker
    changes: EngineChanges
    doctor: DoctorService
    look: DiskLook
    backup: BackupService
    chat: FakeChat = field(default_factory=FakeChat)
    notices: Notices = field(default_factory=Notices)


class Settings:
    """The shown window and what is behind it."""

    def __init__(self, qtbot: QtBot, theme: Theme, folder: Path, machine: Path) -> None:
        self.qtbot, self.theme = qtbot, theme
        self.disk, self.doctor, self.saving = Cranked(), Cranked(), Cranked()
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        self.store = SettingsStore(folder / "settings.json", SerialRunner(self.saving), Notices())
        self.worker = StoppableWorker()
        self.worker.set_hello(HELLO)
        self.worker.set_state(WorkerState.IDLE)
        environ = {**ENVIRON, "VRAMBLE_SYSROOT": str(machine)}
        self.services = FakeServices(
            paths=paths,
            settings=self.store,
            worker=self.worker,
            changes=EngineChanges(self.worker, self.store, lambda _path: self.engine.load_options()),  # type: ignore[arg-type]
            doctor=DoctorService(self.worker, self.doctor, lambda: environ),  # type: ignore[arg-type]
            look=DiskLook(self.disk),
            backup=BackupService(paths, self.saving),
        )
        self.opened: list[Path] = []
        self.window = SettingsWindow(self.services, theme, environ=environ, opener=self.opened.append)  # type: ignore[arg-type]
        self.window.resize(980, 680)
        self.window.present()
        qtbot.waitUntil(self.window.isActiveWindow)

    @property
    def engine(self) -> EngineSettings:
        return self.store.get(EngineSettings)

    @property
    def backends(self) -> BackendSettings:
        return self.store.get(BackendSettings)

    def saved(self, feature: str) -> dict[str, Any]:
        """What the file holds for one feature."""
        self.saving.crank()
        document: dict[str, Any] = msgspec.json.decode(self.store.path.read_bytes())
        found: dict[str, Any] = document[feature]
        return found

    def put(self, record: type, **values: Any) -> None:
        self.store.put(msgspec.structs.replace(self.store.get(record), **values))

    def find(self, name: str, kind: type[T]) -> T:
        """The one widget with this name that is not about to go."""
        found = [w for w in self.window.findChildren(QWidget, name) if w.isVisibleTo(self.window)]
        assert found, f"no widget {name} is shown"
        assert isinstance(found[0], kind)
        return found[0]

    def shown(self, name: str) -> bool:
        return any(w.isVisible() for w in self.window.findChildren(QWidget, name))

    def click(self, name: str) -> None:
        widget = self.find(name, QWidget)
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def settle(self) -> None:
        """Let queued results arrive."""
        for executor in (self.disk, self.doctor):
            executor.crank()
        self.qtbot.wait(1)


@pytest.fixture
def settings(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[Settings]:
    from tests.fakes.sysroot import build_sysroot

    made = Settings(qtbot, theme, tmp_path, build_sysroot("rx7900xtx_without_rebar", tmp_path / "machine"))
    yield made
    made.window.close()
    made.window.deleteLater()
