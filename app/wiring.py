"""Builds every service and hands it to who needs it: one function for each feature. The only place that does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QCoreApplication, QObject, QTimer

from app.backup.service import BackupService, restore_waiting, restored_notice
from app.bench.archive import Archive
from app.bench.place import history_file
from app.bench.service import BenchService
from app.chat.controller import ChatController
from app.chat.model_choice import ModelChoice
from app.desktop.service import Desktop
from app.doctor.service import DoctorService
from app.downloads.account import HubAccount
from app.downloads.awake import KeepAwake
from app.downloads.network import Network
from app.downloads.remote_headers import RemoteHeaders
from app.downloads.service import DownloadService
from app.downloads.settings import DownloadSettings, network_environment
from app.fit.badges import FitBadges
from app.fit.learning import FitLearning, learned_file
from app.fit.ram_speed import RamProbe
from app.folders.look import FolderLook
from app.formulas.service import FormulaService
from app.hub.service import HubService
from app.jobs import SerialRunner, ThreadExecutor
from app.library.service import InstalledModel, LibraryService, Outside
from app.load.dry_runs import DryRuns
from app.load.equal_cards import EqualCards
from app.load.service import LoadService
from app.memory.pressure import PressureWatch
from app.memory.service import MemoryService
from app.notices import Notices
from app.paths import Paths, starter_model
from app.power.sleep import SleepWatch
from app.services import Services
from app.settings.fields import feature_name
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
from engine.library.surroundings import here
from engine.memory.sampler import MemorySampler
from engine.memory.tree import sysroot
from engine.power.awake import Inhibitor
from engine.protocol.types import DeviceKind

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice
    from engine.memory.fit.records import LearnedBytes
    from engine.protocol.types import DeviceInfo


@dataclass(frozen=True)
class Ground:
    """What every feature stands on.

    Attributes:
        lifetime: Parent of all services.
    """

    paths: Paths
    lifetime: QObject
    files: SerialRunner
    database: SerialRunner
    notices: Notices
    settings: SettingsStore

    def process(self) -> WorkerConnection:
        """Processes of a worker beside the chat's."""
        return WorkerConnection(self.paths, None, None, self.lifetime, self.settings)


def build(paths: Paths, *, alone: bool = True) -> Services:
    """All services for the folders in ``paths``; reads the settings file, starts no process.

    ``alone``: no other process has these folders. Beside one that hangs, a restore waits for the next start.
    """
    restored = restore_waiting(paths) if alone else None
    ground = make_ground(paths)
    if restored is not None:
        QTimer.singleShot(0, ground.lifetime, lambda: ground.notices.post(restored_notice(restored)))
    library, downloads = make_models(ground)
    worker = make_worker(ground, library)
    memory = make_memory(ground, worker)
    forecasts = Forecasts(ground, worker, memory, library)
    network = Network(ground.settings)
    headers = ThreadExecutor("headers")
    load = forecasts.load
    remote = RemoteHeaders(paths.cache / "headers", headers, ground.lifetime, environ=network.environ)
    sleep, upkeep = make_upkeep(ground, worker, memory)
    hub = make_hub(ground, forecasts.machine)
    library.ask_through(hub.look_up)
    chat = make_chat(ground, worker, library, load)
    backup = BackupService(paths, ThreadExecutor("backup"), ground.lifetime)
    chat.keeping.exchange.runner = backup.runner
    return Services(
        paths=paths,
        notices=ground.notices,
        settings=ground.settings,
        worker=worker,
        self_tests=SelfTests(worker, ground.settings, ground.notices, ground.process(), ground.files, ground.lifetime),
        chat=chat,
        backup=backup,
        library=library,
        downloads=downloads,
        desktop=Desktop(ThreadExecutor("desktop"), ground.lifetime),
        folders=FolderLook(ThreadExecutor("folders"), Path.home(), ground.lifetime),
        account=HubAccount(ThreadExecutor("account"), network, ground.lifetime),
        memory=memory,
        pressure=PressureWatch(
            memory, worker, ground.settings, ground.notices, ground.lifetime, keep=worker.keep_caches
        ),
        load=load,
        learning=forecasts.learning,
        remote=remote,
        badges=FitBadges(load, remote, ground.lifetime),
        bench=make_bench(ground, worker, load, forecasts.machine),
        changes=EngineChanges(worker, ground.settings, load.options_for, ground.lifetime),
        doctor=make_doctor(ground, worker),
        hub=hub,
        formulas=FormulaService(ThreadExecutor("formulas"), ground.lifetime),
        look=DiskLook(ThreadExecutor("look"), ground.lifetime),
        sleep=sleep,
        upkeep=upkeep,
        lifetime=ground.lifetime,
        files=ground.files,
        database=ground.database,
    )


def make_ground(paths: Paths) -> Ground:
    """Runners, notices and settings."""
    lifetime = QObject(QCoreApplication.instance())
    files = SerialRunner(ThreadExecutor("files"), lifetime)
    database = SerialRunner(ThreadExecutor("database"), lifetime)
    notices = Notices(lifetime)
    settings = SettingsStore(paths.settings, files, notices, lifetime)
    return Ground(paths, lifetime, files, database, notices, settings)


def make_models(ground: Ground) -> tuple[LibraryService, DownloadService]:
    """The models that are here, and those that come."""
    outside = Outside(
        settings=ground.settings,
        around=here(),
        index=ground.paths.cache / "library" / "index.msgpack",
        files=ThreadExecutor("library-files"),
        watch=True,
        repair=lambda path, origin, parts: downloads.repair(path, origin, parts),
    )
    library = LibraryService(ground.paths.models, starter_model(), ThreadExecutor("library"), ground.lifetime, outside)
    downloads = DownloadService(
        ground.paths.models,
        ThreadExecutor("downloads"),
        ground.lifetime,
        store=ground.settings,
        queue_file=ground.paths.data / "downloads.json",
        awake=KeepAwake(Inhibitor(), SerialRunner(ThreadExecutor("awake"), ground.lifetime), ground.lifetime),
    )
    downloads.finished.connect(lambda _job: library.rescan())
    library.moved.connect(lambda before, after: follow_model(ground.settings, before, after))
    return library, downloads


def follow_model(settings: SettingsStore, before: str, after: str) -> None:
    """The model that was loaded last is found where it was moved to."""
    present = settings.get(EngineSettings)
    if present.last_model == before:
        settings.put(msgspec.structs.replace(present, last_model=after))


def make_hub(ground: Ground, machine: Callable[[], tuple[FitDevice, ...]]) -> HubService:
    """Search of the Hub, the pages of its repositories and the catalogue."""

    def settings() -> DownloadSettings:
        return ground.settings.get(DownloadSettings)

    hub = HubService(
        ground.paths.cache / "hub",
        ThreadExecutor("hub"),
        lambda: network_environment(settings(), os.environ),
        lambda: settings().offline,
        machine,
        ground.lifetime,
    )
    own = feature_name(DownloadSettings)
    ground.settings.changed.connect(lambda feature: hub.settings_changed() if feature == own else None)
    return hub


def make_worker(ground: Ground, library: LibraryService) -> WorkerService:
    """The chat's engine."""

    def layers(path: Path) -> int:
        return next((model.n_layers or 0 for model in library.models if model.path == path), 0)

    worker = WorkerService(
        ground.paths, ground.files, ground.notices, ground.lifetime, settings=ground.settings, layers=layers
    )
    worker.model_changed.connect(lambda model: library.note_used(Path(model.path)) if model is not None else None)
    return worker


def make_memory(ground: Ground, worker: WorkerService) -> MemoryService:
    """The memory figures; they hear what the engine does."""
    memory = MemoryService(MemorySampler(sysroot()), ThreadExecutor("memory"), ground.lifetime)
    worker.state_changed.connect(lambda _state: memory.set_worker(worker.pid))
    worker.state_changed.connect(lambda state: memory.set_answering(state is WorkerState.GENERATING))
    worker.model_changed.connect(memory.set_model)
    worker.hello_received.connect(lambda hello: memory.set_devices(hello.devices))
    return memory


class Forecasts:
    """What a load is expected to take, and what loads have taught.

    Attributes:
        load: Options and forecasts of loads.
        learning: Compares forecasts with what was measured.
    """

    def __init__(self, ground: Ground, worker: WorkerService, memory: MemoryService, library: LibraryService) -> None:
        self._worker, self._memory = worker, memory
        probe = RamProbe(self._needs_no_probe, lambda: worker.idle, self._available, self._keep_ram_speed)
        dry_runs = DryRuns(ground.process(), ground.lifetime, probe)
        self.load = LoadService(
            ground.settings,
            ThreadExecutor("load"),
            self._devices,
            self.machine,
            lambda: library.models,
            ground.lifetime,
            dry_runs,
            lambda: library.companions,
        )
        learned, executor = learned_file(ground.paths), ThreadExecutor("learning")
        self.learning = FitLearning(
            learned, executor, worker, memory.sampled, self.load.forecast, ground.lifetime, self._is_safer
        )
        self.learning.changed.connect(self.load.measured)
        self.load.forget_wanted.connect(self.learning.forget)
        worker.hello_received.connect(lambda _hello: self.load.take_devices())
        self._equal_cards = EqualCards(worker, ground.settings, ground.notices, ground.lifetime)
        for signal in (worker.hello_received, library.models_changed):
            signal.connect(lambda *_told: self.load.expect(ground.settings.get(EngineSettings).last_model))
        library.models_changed.connect(self.load.take_models)

    def machine(self) -> tuple[FitDevice, ...]:
        """The devices with their room as they are now, without what the loaded model gives back."""
        from engine.memory.fit import fit_devices

        memory, model = self._memory, self._worker.model
        held = model.memory if model is not None and memory.snapshot is not None else ()
        return fit_devices(self._devices(), memory.snapshot, held, self._learned, self.learning.ram_speed)

    def _needs_no_probe(self) -> bool:
        """An APU's memory is known by name or clock; what was learned has to be read before something is added."""
        return not self.learning.ready or any(device.kind is DeviceKind.IGPU for device in self._devices())

    def _available(self) -> int | None:
        return self._memory.snapshot.ram.available if self._memory.snapshot is not None else None

    def _keep_ram_speed(self, speed: float) -> None:
        self.learning.keep_ram_speed(speed)

    def _learned(self, device: DeviceInfo) -> LearnedBytes | None:
        return self.learning.learned(device)

    def _devices(self) -> tuple[DeviceInfo, ...]:
        return self._worker.hello.devices if self._worker.hello is not None else ()

    def _is_safer(self) -> bool:
        return self._worker.safe_mode is not None and bool(self._worker.safe_mode.in_use)


def make_chat(ground: Ground, worker: WorkerService, library: LibraryService, load: LoadService) -> ChatController:
    """The conversations, and which model answers."""

    def installed() -> Sequence[InstalledModel] | None:
        return library.models or (None if library.scanning else ())

    choice = ModelChoice(worker, ground.settings, installed, ground.lifetime, load.options_for, load.refusal)
    chat = ChatController(
        worker,
        ground.paths.database,
        ground.database,
        ground.settings,
        ground.notices,
        choice.choose,
        parent=ground.lifetime,
        choice_of=choice.of,
    )
    chat.keeping.titling.look = worker.look
    chat.listed.connect(worker.caches.keep_only)
    chat.purged.connect(worker.caches.forget)
    return chat


def make_upkeep(ground: Ground, worker: WorkerService, memory: MemoryService) -> tuple[SleepWatch, Upkeep]:
    """What looks after a loaded model from outside."""
    sleep = SleepWatch(None, ground.lifetime, lambda: SerialRunner(ThreadExecutor("bus"), ground.lifetime))
    upkeep = Upkeep(worker, ground.settings, ground.notices, sleep, ground.lifetime)
    memory.sampled.connect(upkeep.freed.take)
    return sleep, upkeep


def make_bench(
    ground: Ground, worker: WorkerService, load: LoadService, machine: Callable[[], tuple[FitDevice, ...]]
) -> BenchService:
    """Benchmarks, in a process of their own."""
    archive = Archive(history_file(ground.paths), ThreadExecutor("bench"), ground.lifetime)
    return BenchService(worker, ground.process(), archive, load, machine, sysroot(), ground.lifetime)


def make_doctor(ground: Ground, worker: WorkerService) -> DoctorService:
    """The examination of the machine; variables that the user knows of are no finding."""

    def judged() -> Mapping[str, str]:
        return without_ignored(ground.settings.get(BackendSettings), os.environ)

    return DoctorService(worker, ThreadExecutor("doctor"), judged, ground.lifetime)
