"""The chat's engine and what looks after it."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from app.jobs import SerialRunner, ThreadExecutor
from app.library.service import LibraryService
from app.load.service import LoadService
from app.memory.pressure import PressureWatch
from app.memory.service import MemoryService
from app.power.sleep import SleepWatch
from app.wiring.ground import Ground
from app.worker.changes import EngineChanges
from app.worker.self_test import SelfTests
from app.worker.service import WorkerService
from app.worker.upkeep import Upkeep
from engine.client.session import WorkerState
from engine.memory.sampler import MemorySampler
from engine.memory.tree import sysroot


class Engine(TypedDict):
    """The engine and what it holds."""

    worker: WorkerService
    memory: MemoryService


class Care(TypedDict):
    """What looks after the engine."""

    self_tests: SelfTests
    pressure: PressureWatch
    changes: EngineChanges


def make_engine(ground: Ground, library: LibraryService) -> Engine:
    """The chat's engine, and the memory figures."""
    worker = make_worker(ground, library)
    return {"worker": worker, "memory": make_memory(ground, worker)}


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


def make_upkeep(ground: Ground, worker: WorkerService, memory: MemoryService) -> tuple[SleepWatch, Upkeep]:
    """What looks after a loaded model from outside."""
    sleep = SleepWatch(None, ground.lifetime, lambda: SerialRunner(ThreadExecutor("bus"), ground.lifetime))
    upkeep = Upkeep(worker, ground.settings, ground.notices, sleep, ground.lifetime)
    memory.sampled.connect(upkeep.freed.take)
    return sleep, upkeep


def make_care(ground: Ground, worker: WorkerService, memory: MemoryService, load: LoadService) -> Care:
    """Self-tests, the watch over short memory, and what changed settings ask of the engine."""
    settings, notices, lifetime = ground.settings, ground.notices, ground.lifetime
    return {
        "self_tests": SelfTests(worker, settings, notices, ground.process(), ground.files, lifetime),
        "pressure": PressureWatch(memory, worker, settings, notices, lifetime, keep=worker.keep_caches),
        "changes": EngineChanges(worker, settings, load.options_for, lifetime),
    }
