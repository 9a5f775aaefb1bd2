"""Did the memory come back: two samples, with and without figures, with other programs in between."""

from __future__ import annotations

import msgspec
import pytest

from engine.memory.freed import LEAST_BYTES, unfreed
from engine.memory.records import GpuMemory, MemorySnapshot, Pool, ProcessMemory, RamMemory, WorkerGpu, WorkerMemory

GIB = 1 << 30
PCI = "0000:03:00.0"
WORKER = ProcessMemory(pid=77, name="vramble", vram=6 * GIB)
DESKTOP = ProcessMemory(pid=5, name="kwin", vram=1 * GIB)
GAME = ProcessMemory(pid=9, name="game", vram=5 * GIB)


def sample(used: int | None, *processes: ProcessMemory, held: int | None = None, gtt: int | None = 0) -> MemorySnapshot:
    """A card with ``used`` GiB taken, of which the worker holds ``held``."""
    gpu = GpuMemory(
        pci=PCI,
        name="Radeon",
        vram=Pool(16 * GIB, None if used is None else used * GIB),
        gtt=Pool(8 * GIB, gtt),
        processes=processes,
    )
    worker = None
    if held is not None:
        worker = WorkerMemory(pid=77, gpus=(WorkerGpu(pci=PCI, vram=held * GIB, gtt=0),))
    return MemorySnapshot(gpus=(gpu,), ram=RamMemory(), worker=worker, taken=0.0)


BEFORE = sample(7, WORKER, DESKTOP, held=6)


def test_it_came_back() -> None:
    assert unfreed(BEFORE, sample(1, DESKTOP)) == ()


def test_it_did_not_come_back() -> None:
    (card,) = unfreed(BEFORE, sample(7, DESKTOP))
    assert (card.pci, card.card, card.size, card.holders) == (PCI, "Radeon", 6 * GIB, (DESKTOP,))


def test_a_game_that_took_it_explains_it() -> None:
    assert unfreed(BEFORE, sample(6, GAME, DESKTOP)) == ()


def test_part_of_it_that_others_do_not_explain() -> None:
    assert unfreed(BEFORE, sample(4, DESKTOP)) == (), "half may be caches of the driver"
    (card,) = unfreed(BEFORE, sample(6, DESKTOP))
    assert card.size == 5 * GIB


def test_more_than_the_worker_held_is_not_its_memory() -> None:
    (card,) = unfreed(BEFORE, sample(12, DESKTOP))
    assert card.size == 6 * GIB


def test_memory_on_the_system_side_counts_too() -> None:
    before = sample(1, held=0, gtt=6 * GIB)
    worker = WorkerMemory(pid=77, gpus=(WorkerGpu(pci=PCI, vram=0, gtt=6 * GIB),))
    before = msgspec.structs.replace(before, worker=worker)
    (card,) = unfreed(before, sample(1, gtt=6 * GIB))
    assert card.size == 6 * GIB
    assert unfreed(before, sample(1, gtt=0)) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (sample(7, held=None), sample(7)),
        (sample(None, held=6, gtt=None), sample(7)),
        (BEFORE, sample(None, gtt=None)),
        (BEFORE, msgspec.structs.replace(BEFORE, gpus=())),
        (sample(7, held=0), sample(7)),
    ],
)
def test_what_is_unknown_says_nothing(before: MemorySnapshot, after: MemorySnapshot) -> None:
    assert unfreed(before, after) == ()


def test_a_small_share_is_noise() -> None:
    share = WorkerGpu(pci=PCI, vram=LEAST_BYTES - 1)
    before = msgspec.structs.replace(BEFORE, worker=WorkerMemory(pid=77, gpus=(share,)))
    assert unfreed(before, sample(7, DESKTOP)) == ()
