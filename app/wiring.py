"""Builds every service and hands it to who needs it. The only place that does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject

from app.bench.archive import Archive
from app.bench.place import history_file
from app.bench.service import BenchService
from app.chat.controller import ChatController
from app.chat.model_choice import ModelChoice
from app.doctor.service import DoctorService
from app.downloads.remote_headers import RemoteHeaders
from app.downloads.service import DownloadService
from app.fit.badges import FitBadges
from app.fit.learning import FitLearning, learned_file
from app.jobs import SerialRunner, ThreadExecutor
from app.library.service import InstalledModel, LibraryService
from app.load.dry_runs import DryRuns
from app.load.service import LoadService
from app.memory.pressure import PressureWatch
from app.memory.service import MemoryService
from app.notices import Notices
from app.paths import Paths, starter_model
from app.power.sleep import SleepWatch
from app.settings.look import DiskLook
from app.settings.records import BackendSettings, EngineSettings
from app.settings.store import SettingsStore
from app.settings.variables import without_ignored
from app.worker.changes import EngineChanges
from app.worker.connection import WorkerConnection
from app.worker.self_test import SelfTests
from app.worker.service import WorkerService
from app.worker.upkeep import Upkeep
from engine.client.session import WorkerState
from engine.memory.sampler import MemorySampler
from engine.memory.tree import sysroot

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice
    from engine.protocol.types import DeviceInfo


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
    library: LibraryService
    downloads: DownloadService
    memory: MemoryService
    pressure: PressureWatch
    load: LoadService
    learning: FitLearning
    remote: RemoteHeaders
    badges: FitBadges
    bench: BenchService
    changes: EngineChanges
    doctor: DoctorService
    look: DiskLook
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
        self.remote.shutdown()
        self.library.shutdown()
        self.memory.shutdown()
        self.doctor.shutdown()
        self.look.shutdown()
        self.load.shutdown()
        self.learning.shutdown()
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


def build(paths: Paths) -> Services:
    """All services for the folders in ``paths``; reads the settings file, starts no process."""
    lifetime = QObject(QCoreApplication.instance())
    files = SerialRunner(ThreadExecutor("files"), lifetime)
    database = SerialRunner(ThreadExecutor("database"), lifetime)
    notices = Notices(lifetime)
    settings = SettingsStore(paths.settings, files, notices, lifetime)
    library = LibraryService(paths.models, starter_model(), ThreadExecutor("library"), lifetime)

    def layers(path: Path) -> int:
        return next((model.n_layers or 0 for model in library.models if model.path == path), 0)

    worker = WorkerService(paths, files, notices, lifetime, settings=settings, layers=layers)
    link = WorkerConnection(paths, None, None, lifetime, settings)
    self_tests = SelfTests(worker, settings, notices, link, files, lifetime)
    downloads = DownloadService(paths.models, ThreadExecutor("downloads"), lifetime)
    memory = MemoryService(MemorySampler(sysroot()), ThreadExecutor("memory"), lifetime)

    def devices() -> tuple[DeviceInfo, ...]:
        return worker.hello.devices if worker.hello is not None else ()

    def safer() -> bool:
        return worker.safe_mode is not None and bool(worker.safe_mode.in_use)

    def machine() -> tuple[FitDevice, ...]:
        from engine.memory.fit import fit_devices

        held = worker.model.memory if worker.model is not None and memory.snapshot is not None else ()
        return fit_devices(devices(), memory.snapshot, held, learning.learned)

    dry_runs = DryRuns(WorkerConnection(paths, None, None, lifetime, settings), lifetime)
    load = LoadService(settings, ThreadExecutor("load"), devices, machine, lambda: library.models, lifetime, dry_runs)
    learning = FitLearning(
        learned_file(paths), ThreadExecutor("learning"), worker, memory.sampled, load.forecast, lifetime, safer
    )
    learning.changed.connect(load.measured)
    load.forget_wanted.connect(learning.forget)
    remote = RemoteHeaders(paths.cache / "headers", ThreadExecutor("headers"), lifetime)
    worker.hello_received.connect(lambda _hello: load.take_devices())
    for signal in (worker.hello_received, library.models_changed):
        signal.connect(lambda *_told: load.expect(settings.get(EngineSettings).last_model))
    library.models_changed.connect(load.take_models)

    def installed() -> Sequence[InstalledModel] | None:
        return library.models or (None if library.scanning else ())

    choice = ModelChoice(worker, settings, installed, lifetime, load.options_for, load.refusal)
    chat = ChatController(
        worker, paths.database, database, settings, notices, choice.choose, parent=lifetime, choice_of=choice.of
    )
    chat.listed.connect(worker.caches.keep_only)
    chat.purged.connect(worker.caches.forget)
    downloads.finished.connect(lambda _job: library.rescan())
    worker.state_changed.connect(lambda _state: memory.set_worker(worker.pid))
    worker.state_changed.connect(lambda state: memory.set_answering(state is WorkerState.GENERATING))
    worker.model_changed.connect(memory.set_model)
    worker.hello_received.connect(lambda hello: memory.set_devices(hello.devices))
    sleep = SleepWatch(None, lifetime, lambda: SerialRunner(ThreadExecutor("bus"), lifetime))
    upkeep = Upkeep(worker, settings, notices, sleep, lifetime)
    memory.sampled.connect(upkeep.freed.take)

    archive = Archive(history_file(paths), ThreadExecutor("bench"), lifetime)
    own = WorkerConnection(paths, None, None, lifetime, settings)

    def judged() -> Mapping[str, str]:
        return without_ignored(settings.get(BackendSettings), os.environ)

    return Services(
        paths=paths,
        notices=notices,
        settings=settings,
        worker=worker,
        self_tests=self_tests,
        chat=chat,
        library=library,
        downloads=downloads,
        memory=memory,
        pressure=PressureWatch(memory, worker, settings, notices, lifetime),
        load=load,
        learning=learning,
        remote=remote,
        badges=FitBadges(load, remote, lifetime),
        bench=BenchService(worker, own, archive, load, machine, sysroot(), lifetime),
        changes=EngineChanges(worker, settings, load.options_for, lifetime),
        doctor=DoctorService(worker, ThreadExecutor("doctor"), judged, lifetime),
        look=DiskLook(ThreadExecutor("look"), lifetime),
        sleep=sleep,
        upkeep=upkeep,
        lifetime=lifetime,
        files=files,
        database=database,
    )
