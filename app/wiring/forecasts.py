"""What a load is expected to take, and what loads have taught."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from app.downloads.remote_headers import RemoteHeaders
from app.fit.badges import FitBadges
from app.fit.learning import FitLearning, learned_file
from app.fit.ram_speed import RamProbe
from app.jobs import ThreadExecutor
from app.library.service import LibraryService
from app.load.dry_runs import DryRuns
from app.load.equal_cards import EqualCards
from app.load.service import LoadService
from app.memory.service import MemoryService
from app.settings.records import EngineSettings
from app.wiring.ground import Ground
from app.worker.service import WorkerService
from engine.protocol.types import DeviceKind

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice
    from engine.memory.fit.records import LearnedBytes
    from engine.protocol.types import DeviceInfo


class Fit(TypedDict):
    """What the program shows of forecasts."""

    load: LoadService
    learning: FitLearning
    badges: FitBadges


class Forecasts:
    """Joins forecasts, what was learned, the engine's devices and the library.

    Attributes:
        load: Options and forecasts of loads.
        learning: Compares forecasts with what was measured.
    """

    def __init__(self, ground: Ground, worker: WorkerService, memory: MemoryService, library: LibraryService) -> None:
        self._worker, self._memory = worker, memory
        self.load = self._make_load(ground, library)
        self.learning = self._make_learning(ground)
        self.learning.changed.connect(self.load.measured)
        self.load.forget_wanted.connect(self.learning.forget)
        worker.hello_received.connect(lambda _hello: self.load.take_devices())
        self._equal_cards = EqualCards(worker, ground.settings, ground.notices, ground.lifetime)
        for signal in (worker.hello_received, library.models_changed):
            signal.connect(lambda *_told: self.load.expect(ground.settings.get(EngineSettings).last_model))
        library.models_changed.connect(self.load.take_models)

    def shown(self, ground: Ground, remote: RemoteHeaders) -> Fit:
        """What the program shows of them."""
        badges = FitBadges(self.load, remote, ground.lifetime)
        return {"load": self.load, "learning": self.learning, "badges": badges}

    def machine(self) -> tuple[FitDevice, ...]:
        """The devices with their room as they are now, without what the loaded model gives back."""
        from engine.memory.fit import fit_devices

        memory, model = self._memory, self._worker.model
        held = model.memory if model is not None and memory.snapshot is not None else ()
        return fit_devices(self._devices(), memory.snapshot, held, self._learned, self.learning.ram_speed)

    def _make_load(self, ground: Ground, library: LibraryService) -> LoadService:
        probe = RamProbe(self._needs_no_probe, lambda: self._worker.idle, self._available, self._keep_ram_speed)
        return LoadService(
            ground.settings,
            ThreadExecutor("load"),
            self._devices,
            self.machine,
            lambda: library.models,
            ground.lifetime,
            DryRuns(ground.process(), ground.lifetime, probe),
            lambda: library.companions,
        )

    def _make_learning(self, ground: Ground) -> FitLearning:
        return FitLearning(
            learned_file(ground.paths),
            ThreadExecutor("learning"),
            self._worker,
            self._memory.sampled,
            self.load.forecast,
            ground.lifetime,
            self._is_safer,
        )

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
