"""A memory page and the services behind it, with a made-up history: for tests, for the cost and for a look."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import msgspec
from PySide6.QtCore import QObject, Signal

from app.memory.history import History, Marker, MarkerKind
from engine.memory.owners import model_shares
from engine.memory.records import GpuMemory, MemorySnapshot, Pool
from engine.protocol.types import DeviceKind, MemoryUse, ModelInfo
from tests.ui.memory.conftest import GIB, model_on
from ui.memory.window import MemoryWindow
from ui.theme import Theme


class Memory(QObject):
    """Stands in for `MemoryService`: samples come when `push` is called."""

    sampled = Signal(object)
    failed = Signal()

    def __init__(self, snapshot: MemorySnapshot | None = None) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.history = History()

    def push(self, snapshot: MemorySnapshot) -> None:
        self.snapshot = snapshot
        self.history.add(snapshot)
        self.sampled.emit(snapshot)


class Worker(QObject):
    """Stands in for `WorkerService`."""

    model_changed = Signal(object)
    speed_changed = Signal(object)

    def __init__(self, model: ModelInfo | None = None) -> None:
        super().__init__()
        self.model = model


class Store(QObject):
    """Stands in for `SettingsStore`, kept in memory."""

    changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._records: dict[type[Any], Any] = {}

    def get(self, feature: type[Any]) -> Any:
        return self._records.setdefault(feature, feature())

    def put(self, record: Any) -> None:
        self._records[type(record)] = record


def loaded(gpu: GpuMemory | None, size: int) -> ModelInfo | None:
    """A model that takes ``size`` bytes on the card."""
    if gpu is None:
        return None
    use = MemoryUse(
        device="Vulkan0", weights=round(0.78 * size), kv=round(0.14 * size), compute=round(0.07 * size), output=0
    )
    model = model_on(gpu.pci, gpu.kind or DeviceKind.GPU, (use,))
    return msgspec.structs.replace(model, name="Qwen3 8B", quant="Q4_K_M")


def with_model(snapshot: MemorySnapshot, model: ModelInfo | None) -> MemorySnapshot:
    return msgspec.structs.replace(snapshot, model=model_shares(model))


@cache
def ten_minutes(snapshot: MemorySnapshot, model: ModelInfo | None) -> tuple[MemorySnapshot, ...]:
    """Samples that end with ``snapshot``: a load, answers, a pause in which nobody looked."""
    return tuple(_moments(snapshot, model, 600))


def _moments(snapshot: MemorySnapshot, model: ModelInfo | None, seconds: int) -> Iterator[MemorySnapshot]:
    for second in range(seconds):
        if 130 <= second < 190:
            continue
        grown = 0.0 if second < 60 else min(1.0, (second - 60) / 20)
        gpus = tuple(_at(gpu, second, grown) for gpu in snapshot.gpus)
        moment = msgspec.structs.replace(
            snapshot, gpus=gpus, taken=float(second), model=model_shares(model) if grown == 1.0 else ()
        )
        yield moment


def fill(memory: Memory, snapshot: MemorySnapshot, model: ModelInfo | None) -> None:
    """Ten minutes of history, with what happened in them."""
    for moment in ten_minutes(snapshot, model):
        memory.history.add(moment)
        memory.snapshot = moment
    if model is None:
        return
    memory.history.mark(Marker(at=80.0, kind=MarkerKind.LOAD, text=model.name))
    for begin, end in ((95.0, 120.0), (230.0, 300.0), (410.0, 440.0)):
        memory.history.mark(Marker(at=begin, until=end, kind=MarkerKind.ANSWER, text=model.name))
    memory.history.begin_answer(585.0, model.name)


def window_on(
    theme: Theme, snapshot: MemorySnapshot | None, model: ModelInfo | None = None, *, history: bool = False
) -> tuple[MemoryWindow, Memory, Worker, Store]:
    memory, worker, store = Memory(snapshot), Worker(model), Store()
    if history and snapshot is not None:
        fill(memory, snapshot, model)
    elif snapshot is not None:
        memory.push(snapshot)
    window = MemoryWindow(cast("Any", memory), cast("Any", worker), cast("Any", store), theme)
    return window, memory, worker, store


def _at(gpu: GpuMemory, second: int, grown: float) -> GpuMemory:
    busy = 95 if _answering(second) else 3
    wave = math.sin(second / 17)
    return msgspec.structs.replace(
        gpu,
        vram=_grown(gpu.vram, grown, wave),
        gtt=_grown(gpu.gtt, grown, wave),
        busy_percent=None if gpu.busy_percent is None else max(0, min(100, round(busy + 3 * wave))),
        power_w=None if gpu.power_w is None else gpu.power_w * (0.2 + 0.8 * busy / 100) + wave,
        temperature_c=None if gpu.temperature_c is None else gpu.temperature_c - 10 + busy / 10 + wave,
    )


def _grown(pool: Pool, grown: float, wave: float) -> Pool:
    if pool.used is None:
        return pool
    low = min(pool.used, GIB // 2)
    return Pool(pool.total, max(0, min(pool.total or 0, round(low + (pool.used - low) * grown + wave * GIB / 40))))


def _answering(second: int) -> bool:
    return any(begin <= second < end for begin, end in ((95, 120), (230, 300), (410, 440), (585, 600)))
