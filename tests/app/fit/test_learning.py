"""What a load teaches, from the worker's word and the kernel's figures to the next forecast."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from app.fit.learning import FitLearning
from engine.memory.fit import FitModel, FitPlan, fit_devices, predict
from engine.memory.fit.history import read_fit_history
from engine.memory.fit.records import LayerCache, Piece
from engine.memory.records import MemorySnapshot, RamMemory, WorkerGpu, WorkerMemory
from engine.protocol.types import DeviceInfo, LoadOptions
from tests.app.chat.cranked import Cranked
from tests.ui.shell.standins import PROCESSOR, RADEON, FakeWorker, model_info

GIB = 1 << 30
PATH = Path("/models/Qwen3-8B-Q4_K_M.gguf")
CARD = msgspec.structs.replace(RADEON, driver="libvulkan_radeon.so of 2026-11-02")
MODEL = FitModel(n_layers=36, pieces=(Piece(3, 5 * GIB),), caches=(LayerCache(keys=1024, values=1024),) * 36)


class Memory(QObject):
    sampled = Signal(object)


class World:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "data" / "fit.json"
        self.memory, self.worker, self.disk = Memory(), FakeWorker(), Cranked()
        self.worker.pid = 7
        self.known, self.safer = True, False
        self.learning = FitLearning(
            self.file, self.disk, self.worker, self.memory.sampled, self.forecast, None, lambda: self.safer
        )
        self.learning.open()
        self.disk.drain()

    def devices(self) -> Sequence[DeviceInfo]:
        return (CARD, PROCESSOR)

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        machine = fit_devices(self.devices(), learned=self.learning.learned)
        return predict(MODEL, options, machine) if self.known else None

    def load(self) -> None:
        self.worker.last_load = (PATH, LoadOptions(n_ctx=16384))
        self.worker.set_model(model_info(str(PATH), CARD, gpu_layers=37))

    def sample(self, vram: float, pid: int = 7, times: int = 1) -> None:
        gpu = WorkerGpu(pci=CARD.pci or "", vram=int(vram * GIB), gtt=0, evicted=0)
        seen = MemorySnapshot(gpus=(), ram=RamMemory(), worker=WorkerMemory(pid=pid, gpus=(gpu,)), taken=0.0)
        for _ in range(times):
            self.memory.sampled.emit(seen)
        self.disk.drain()

    @property
    def total(self) -> int:
        plan = self.forecast(PATH, LoadOptions(n_ctx=16384))
        assert plan is not None
        return plan.total


@pytest.fixture
def world(tmp_path: Path, qtbot: QtBot) -> World:
    return World(tmp_path)


def test_a_load_teaches_the_next_forecast(world: World, qtbot: QtBot) -> None:
    before = world.total
    world.load()
    world.sample(before / GIB + 0.2)
    assert world.total == before, "the first sample may be older than the load"
    with qtbot.waitSignal(world.learning.changed):
        world.sample(before / GIB + 0.2)
    assert world.total == pytest.approx(before + 0.1 * GIB, rel=0.001), "one load goes half of the way"
    world.sample(before / GIB + 3, times=5)
    assert len(read_fit_history(world.file).records) == 1, "one load is one record"
    assert world.learning.learned(PROCESSOR) is None


def test_it_is_there_after_a_restart_and_can_be_forgotten(world: World, tmp_path: Path) -> None:
    before = world.total
    world.load()
    world.sample(before / GIB + 0.2, times=2)
    again = World(tmp_path)
    assert again.total > before
    again.learning.forget([CARD])
    again.disk.drain()
    assert again.total == before
    assert read_fit_history(again.file).records == ()


def test_another_driver_begins_anew(world: World) -> None:
    world.load()
    world.sample(world.total / GIB + 0.2, times=2)
    assert world.learning.learned(CARD) is not None
    assert world.learning.learned(msgspec.structs.replace(CARD, driver="libvulkan_radeon.so of 2026-12-01")) is None


def test_what_teaches_nothing(world: World) -> None:
    for change in ("another process", "safer options", "unloaded"):
        world.load()
        world.safer = change == "safer options"
        if change == "unloaded":
            world.worker.set_model(None)
        world.sample(9, pid=8 if change == "another process" else 7, times=3)
        world.worker.set_model(None)
        world.safer = False
    assert read_fit_history(world.file).records == ()


def test_a_header_that_comes_late(world: World) -> None:
    world.known = False
    world.load()
    world.sample(7, times=3)
    world.known = True
    world.sample(7)
    assert len(read_fit_history(world.file).records) == 1


def test_a_disk_that_refuses_harms_nothing(world: World) -> None:
    world.file.parent.write_text("a file in the way")
    before = world.total
    world.load()
    world.sample(before / GIB + 0.2, times=2)
    assert world.total == before


def test_the_speed_of_the_ram_is_kept(world: World, tmp_path: Path, qtbot: QtBot) -> None:
    assert (world.learning.ram_speed, world.learning.ready) == (None, True)
    with qtbot.waitSignal(world.learning.changed):
        world.learning.keep_ram_speed(25e9)
        world.disk.drain()
    assert world.learning.ram_speed == 25e9
    world.load()
    world.sample(9, times=2)
    again = World(tmp_path)
    assert again.learning.ram_speed == 25e9


def test_before_the_file_was_read_nothing_is_to_be_measured(tmp_path: Path, qtbot: QtBot) -> None:
    disk, memory, worker = Cranked(), Memory(), FakeWorker()
    learning = FitLearning(tmp_path / "fit.json", disk, worker, memory.sampled, lambda _path, _options: None)
    learning.open()
    assert not learning.ready
    disk.drain()
    assert learning.ready
