"""What the program consists of: the record of its services, how they begin and how they end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.backup.service import BackupService
from app.bench.service import BenchService
from app.chat.controller import ChatController
from app.desktop.service import Desktop
from app.doctor.service import DoctorService
from app.downloads.account import HubAccount
from app.downloads.remote_headers import RemoteHeaders
from app.downloads.service import DownloadService
from app.fit.badges import FitBadges
from app.fit.learning import FitLearning
from app.folders.look import FolderLook
from app.formulas.service import FormulaService
from app.hub.service import HubService
from app.jobs import SerialRunner
from app.library.service import LibraryService
from app.load.service import LoadService
from app.memory.pressure import PressureWatch
from app.memory.service import MemoryService
from app.notices import Notices
from app.pad.keyboard import SteamKeyboard
from app.pad.service import PadService
from app.paths import Paths
from app.power.sleep import SleepWatch
from app.settings.look import DiskLook
from app.settings.store import SettingsStore
from app.worker.changes import EngineChanges
from app.worker.self_test import SelfTests
from app.worker.service import WorkerService
from app.worker.upkeep import Upkeep
from engine.client.session import WorkerState


@dataclass(frozen=True)
class Services:
    """Everything the window shows and commands.

    Attributes:
        lifetime: Parent of all objects here.
        files: Runner for small writes: settings, logs.
    """

    paths: Paths
    notices: Notices
    settings: SettingsStore
    worker: WorkerService
    self_tests: SelfTests
    chat: ChatController
    backup: BackupService
    library: LibraryService
    downloads: DownloadService
    account: HubAccount
    desktop: Desktop
    folders: FolderLook
    memory: MemoryService
    pressure: PressureWatch
    load: LoadService
    learning: FitLearning
    remote: RemoteHeaders
    badges: FitBadges
    bench: BenchService
    changes: EngineChanges
    doctor: DoctorService
    formulas: FormulaService
    hub: HubService
    look: DiskLook
    pad: PadService
    keyboard: SteamKeyboard
    sleep: SleepWatch
    upkeep: Upkeep
    lifetime: QObject
    files: SerialRunner
    database: SerialRunner

    def begin(self) -> None:
        """What can wait until the window is seen: the history is read, the worker tells its devices."""
        self.chat.start()
        self.worker.start()
        self.learning.open()
        self.account.look()

    def close(self, done: Callable[[], None]) -> None:
        """Save what streams, end the worker, then ``done``. Returns at once."""
        closing = Closing(self.worker, done, self.lifetime)
        self.chat.close(closing.end_worker)

    def shutdown(self) -> None:
        """End what still runs, before this returns. After the event loop, bounded by the worker's 3 s."""
        self.self_tests.shutdown()
        self.bench.shutdown()
        self.worker.shutdown()
        self.downloads.shutdown()
        self.desktop.shutdown()
        self.folders.shutdown()
        self.account.shutdown()
        self.remote.shutdown()
        self.hub.shutdown()
        self.library.shutdown()
        self.memory.shutdown()
        self.doctor.shutdown()
        self.formulas.shutdown()
        self.look.shutdown()
        self.pad.shutdown()
        self.load.shutdown()
        self.learning.shutdown()
        self.backup.shutdown()
        self.database.close()
        self.files.close()


class Closing(QObject):
    """Waits for the worker's process to be gone."""

    def __init__(self, worker: WorkerService, done: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._worker, self._done = worker, done

    def end_worker(self) -> None:
        """Ask the worker to end and tell when it has."""
        self._worker.state_changed.connect(self._look)
        self._worker.stop()
        self._look(self._worker.state)

    def _look(self, state: WorkerState) -> None:
        if state in (WorkerState.STOPPED, WorkerState.CRASHED):
            self._worker.state_changed.disconnect(self._look)
            self._done()
