"""A machine whose memory gets short and recovers, under a hand-turned clock."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.memory.pressure import (
    FALL_S,
    GAP_S,
    Cause,
    Level,
    PressureMeter,
    Shortage,
    held,
)
from engine.memory.records import (
    GpuMemory,
    MemorySnapshot,
    Pool,
    ProcessMemory,
    Program,
    WorkerGpu,
    WorkerMemory,
)
from engine.memory.takers import Taker
from tests.engine.memory.test_pressure import ram

GIB = 1 << 30
CARD = "0000:03:00.0"


class Machine:
    """A card of 16 GiB with our model and others, sampled once a second."""

    def __init__(self) -> None:
        self.meter = PressureMeter()
        self.now = 1000.0
        self.ram = ram(6.0)
        self.worker = WorkerGpu(pci=CARD, vram=6 * GIB, gtt=GIB // 4, evicted=0)
        self.others: dict[str, int] = {"kwin_wayland": GIB // 2}
        self.hidden = 0
        self.programs: dict[str, int] = {}

    def snapshot(self) -> MemorySnapshot:
        ours = ProcessMemory(pid=77, name="python3", vram=self.worker.vram, gtt=self.worker.gtt, ours=True)
        processes = [ProcessMemory(pid=100 + place, name=n, vram=v) for place, (n, v) in enumerate(self.others.items())]
        used = (self.worker.vram or 0) + sum(self.others.values()) + self.hidden
        gpu = GpuMemory(
            pci=CARD,
            name="AMD Radeon RX 6800",
            vram=Pool(16 * GIB, min(used, 16 * GIB)),
            gtt=Pool(16 * GIB, self.worker.gtt),
            processes=(ours, *processes),
        )
        worker = WorkerMemory(pid=77, ram=GIB // 2, gpus=(self.worker,))
        ours_in_ram = Program(name="vramble", ram=GIB // 8, ours=True)
        programs = (ours_in_ram, *(Program(name=name, ram=size) for name, size in self.programs.items()))
        return MemorySnapshot(gpus=(gpu,), ram=self.ram, worker=worker, programs=programs, taken=self.now)

    def run(self, seconds: float, step: float = 1.0) -> list[Level]:
        """Levels of so many seconds."""
        end, levels = self.now + seconds, []
        while self.now < end:
            self.last = self.meter.take(self.snapshot())
            levels.append(self.last.level)
            self.now += step
        return levels

    last: Shortage

    @property
    def taker(self) -> str:
        """Name of the program that took memory."""
        return self.last.taker.name if self.last.taker is not None else ""


@pytest.fixture
def box() -> Machine:
    return Machine()


def test_calm_stays_calm_and_says_what_the_engine_holds(box: Machine) -> None:
    assert set(box.run(60)) == {Level.CALM}
    assert not box.last.near
    assert box.last.held == 6 * GIB + GIB // 4 + GIB // 2 == held(box.snapshot())


def test_it_rises_after_three_seconds_and_falls_after_fifteen(box: Machine) -> None:
    box.run(5)
    box.ram = ram(0.8)
    assert box.run(3) == [Level.CALM] * 3
    assert box.last.near
    assert box.run(4) == [Level.SHORT] * 4
    assert (box.last.causes, box.last.available) == ((Cause.RAM,), int(0.8 * GIB))
    box.ram = ram(3.0)
    levels = box.run(FALL_S + 2)
    assert levels[: int(FALL_S)] == [Level.SHORT] * int(FALL_S)
    assert levels[-1] is Level.CALM


def test_one_bad_sample_is_nothing(box: Machine) -> None:
    box.run(5)
    box.ram = ram(0.2, swap=0.0)
    box.run(1)
    box.ram = ram(6.0)
    assert set(box.run(30)) == {Level.CALM}


def test_figures_around_the_limit_do_not_flicker(box: Machine) -> None:
    levels = []
    for turn in range(200):
        box.ram = ram(0.95 if turn % 8 < 5 else 1.2)
        levels += box.run(1)
    changes = sum(one is not other for one, other in pairwise(levels))
    assert changes == 1, "up once, never down: 1.2 GiB is no relief"


def test_critical_comes_quickly_and_eases_to_short(box: Machine) -> None:
    box.run(5)
    box.ram = ram(0.4, swap=0.3)
    assert box.run(3)[-1] is Level.CRITICAL
    box.ram = ram(0.8)
    levels = box.run(8)
    assert levels[:5] == [Level.CRITICAL] * 5
    assert levels[-1] is Level.SHORT


def test_after_a_sleep_the_signs_have_to_show_again(box: Machine) -> None:
    box.ram = ram(0.9)
    box.run(2)
    box.now += GAP_S + 1
    assert box.run(3) == [Level.CALM] * 3


def test_sampling_every_five_seconds_sees_it_with_the_second_sample(box: Machine) -> None:
    box.run(30, step=5.0)
    box.ram = ram(0.7)
    assert box.run(10, step=5.0) == [Level.CALM, Level.SHORT]


def test_another_model_begins_anew(box: Machine) -> None:
    box.ram = ram(0.7)
    assert box.run(6)[-1] is Level.SHORT
    box.meter.reset()
    assert box.run(2) == [Level.CALM] * 2


def test_a_game_that_pushes_the_model_out_is_named(box: Machine) -> None:
    box.run(30)
    box.others["eldenring.exe"] = 9 * GIB
    box.worker = WorkerGpu(pci=CARD, vram=4 * GIB, gtt=2 * GIB, evicted=2 * GIB)
    assert box.run(5)[-1] is Level.SHORT
    assert box.last.causes == (Cause.EVICTED,)
    assert (box.last.evicted, box.last.card) == (2 * GIB, "AMD Radeon RX 6800")
    assert box.taker == "eldenring.exe"
    assert set(box.run(200)) == {Level.SHORT}, "still out"
    assert not box.taker, "long ago"


def test_eviction_without_the_kernels_word_is_seen_by_memory_that_moved(box: Machine) -> None:
    box.worker = WorkerGpu(pci=CARD, vram=6 * GIB, gtt=GIB // 4)
    box.run(10)
    box.worker = WorkerGpu(pci=CARD, vram=5 * GIB, gtt=GIB // 4)
    assert box.run(10)[-1] is Level.CALM, "given back, not pushed out"
    box.worker = WorkerGpu(pci=CARD, vram=4 * GIB, gtt=2 * GIB)
    assert box.run(5)[-1] is Level.SHORT
    assert box.last.evicted == 7 * GIB // 4


def test_a_program_that_was_only_found_late_did_not_take_anything(box: Machine) -> None:
    box.hidden = 3 * GIB
    box.run(30)
    box.hidden, box.others["game"] = 0, 3 * GIB
    box.run(5)
    assert box.last.taker is None


def test_a_program_that_cannot_be_seen_has_no_name(box: Machine) -> None:
    box.run(30)
    box.hidden = 3 * GIB
    box.run(2)
    assert box.last.taker == Taker("", 3 * GIB)


def test_our_own_growth_is_not_another_program(box: Machine) -> None:
    box.run(10)
    box.worker = WorkerGpu(pci=CARD, vram=9 * GIB, gtt=GIB, evicted=0)
    box.run(5)
    assert box.last.taker is None


def test_a_program_that_took_ram_is_named(box: Machine) -> None:
    box.ram, box.programs = ram(6.0), {"blender": GIB, "firefox": 2 * GIB}
    box.run(30)
    box.ram, box.programs["blender"] = ram(0.6), 6 * GIB
    assert box.run(5)[-1] is Level.SHORT
    assert box.last.taker == Taker("blender", 5 * GIB, ram=True)
    box.run(200)
    assert box.last.taker is None, "long ago"


def test_a_program_that_was_only_found_late_did_not_take_ram_either(box: Machine) -> None:
    box.run(30)
    box.programs["blender"] = 6 * GIB
    box.run(5)
    assert box.last.taker is None


def test_ram_that_no_program_can_be_named_for_is_blamed_on_none(box: Machine) -> None:
    box.ram, box.programs = ram(6.0), {"firefox": 2 * GIB}
    box.run(30)
    box.ram = ram(0.6)
    box.run(5)
    assert box.last.taker is None
