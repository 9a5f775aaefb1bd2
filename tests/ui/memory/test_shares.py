"""Who holds what: the segments of the bars."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory.records import (
    GoneGpu,
    GpuMemory,
    MemorySnapshot,
    ModelShare,
    Pool,
    RamMemory,
    WorkerGpu,
    WorkerMemory,
)
from engine.protocol.types import DeviceKind, MemoryUse, ModelInfo
from tests.ui.memory.conftest import APU, CARD, GIB, desktop, model_on
from ui.memory.owners import PartOwner, host_parts
from ui.memory.shares import BarKind, Owner, Region, Share, bars, chosen_gpu, gone_gpu, share_of_model

MODEL, OTHER, MAPPED, FREE = Owner.MODEL, Owner.OTHER, Owner.MAPPED, Owner.FREE
VRAM, GTT, RAM = Region.VRAM, Region.GTT, Region.RAM


def drawn(snapshot: MemorySnapshot, model: ModelInfo | None) -> dict[BarKind, list[tuple[Region, Owner, float]]]:
    gpu = chosen_gpu(snapshot, model)
    found = bars(gpu, snapshot.ram, share_of_model(snapshot, model, gpu))
    return {bar.kind: [(part.region, part.owner, part.size / GIB) for part in bar.segments] for bar in found}


def test_a_card_of_its_own_has_two_bars_and_gtt_lies_in_the_ram() -> None:
    held = WorkerGpu(pci=CARD, vram=6 * GIB, gtt=GIB // 2)
    assert drawn(desktop(held=held), model_on(CARD)) == {
        BarKind.VRAM: [(VRAM, MODEL, 6), (VRAM, OTHER, 4), (VRAM, FREE, 14)],
        BarKind.RAM: [
            (GTT, MODEL, 0.5), (GTT, OTHER, 0.5), (RAM, MODEL, 1), (RAM, OTHER, 10), (RAM, MAPPED, 2), (RAM, FREE, 18),
        ],
    }  # fmt: skip


def test_an_apu_is_one_bar_with_the_carve_out_beside_the_ram() -> None:
    held = WorkerGpu(pci=CARD, vram=GIB // 4, gtt=3 * GIB)
    snapshot = desktop(
        kind=DeviceKind.IGPU,
        vram=Pool(GIB, GIB // 2),
        gtt=Pool(8 * GIB, 4 * GIB),
        ram=RamMemory(total=15 * GIB, available=6 * GIB),
        held=held,
    )
    assert drawn(snapshot, model_on(CARD, DeviceKind.IGPU)) == {
        BarKind.WHOLE: [
            (VRAM, MODEL, 0.25), (VRAM, OTHER, 0.25), (VRAM, FREE, 0.5), (GTT, MODEL, 3), (GTT, OTHER, 1),
            (RAM, MODEL, 1), (RAM, OTHER, 4), (RAM, MAPPED, 2), (RAM, FREE, 4),
        ]
    }  # fmt: skip


def test_without_a_model_all_that_is_used_belongs_to_other_programs() -> None:
    assert drawn(desktop(), None)[BarKind.VRAM] == [(VRAM, OTHER, 10), (VRAM, FREE, 14)]


def test_while_a_model_loads_its_part_of_the_card_is_seen_growing() -> None:
    found = drawn(desktop(held=WorkerGpu(pci=CARD, vram=3 * GIB, gtt=0)), None)
    assert found[BarKind.VRAM] == [(VRAM, MODEL, 3), (VRAM, OTHER, 7), (VRAM, FREE, 14)]
    assert found[BarKind.RAM] == [(GTT, OTHER, 1), (RAM, OTHER, 11), (RAM, FREE, 20)]


@pytest.mark.parametrize(
    ("vram", "ram", "kinds"),
    [
        (Pool(None, 5), RamMemory(total=GIB, available=0), [BarKind.RAM]),
        (Pool(GIB, None), RamMemory(), [BarKind.VRAM]),
        (Pool(), RamMemory(), []),
    ],
)
def test_a_bar_needs_a_total(vram: Pool, ram: RamMemory, kinds: list[BarKind]) -> None:
    assert list(drawn(desktop(vram=vram, ram=ram), None)) == kinds


@pytest.mark.parametrize("kind", [DeviceKind.GPU, DeviceKind.IGPU])
def test_an_unknown_use_leaves_the_bar_empty_and_is_not_drawn_as_free(kind: DeviceKind) -> None:
    snapshot = desktop(vram=Pool(24 * GIB, None), kind=kind)
    first = BarKind.VRAM if kind is DeviceKind.GPU else BarKind.WHOLE
    assert drawn(snapshot, None)[first] == []


SIZES = st.none() | st.integers(0, 64 * GIB)


@settings(deadline=None)
@given(SIZES, SIZES, SIZES, SIZES, SIZES, SIZES, SIZES, st.sampled_from([DeviceKind.GPU, DeviceKind.IGPU, None]))
def test_segments_fill_their_bar_exactly(
    total: int | None,
    used: int | None,
    gtt: int | None,
    ram: int | None,
    available: int | None,
    vram_held: int | None,
    gtt_held: int | None,
    kind: DeviceKind | None,
) -> None:
    vram = Pool(total, min(used, total) if used is not None and total is not None else used)
    host = RamMemory(
        total=ram, available=min(available, ram) if available is not None and ram is not None else available
    )
    gpu = GpuMemory(pci=CARD, name="card", kind=kind, vram=vram, gtt=Pool(None, gtt))
    share = Share(vram_held, gtt_held, vram_held, gtt_held)
    for bar in bars(gpu, host, share):
        assert all(part.size > 0 for part in bar.segments)
        if bar.segments:
            assert sum(part.size for part in bar.segments) == bar.total


# --- the model's share ----------------------------------------------------------------------------

REPORT = (
    MemoryUse(device="Vulkan0", weights=4 * GIB, kv=GIB, compute=GIB // 2),
    MemoryUse(device="CPU", weights=GIB),
)


def test_the_kernel_knows_better_than_the_load_report() -> None:
    snapshot = desktop(held=WorkerGpu(pci=CARD, vram=2 * GIB, gtt=4 * GIB))
    model = model_on(CARD, memory=REPORT)
    share = share_of_model(snapshot, model, snapshot.gpus[0])
    assert (share.vram, share.gtt, share.reported) == (2 * GIB, 4 * GIB, None)
    assert (share.on_gpu, share.ram, share.mapped) == (6 * GIB, 1 * GIB, 2 * GIB)


@pytest.mark.parametrize(
    ("kind", "vram", "reported"),
    [(DeviceKind.GPU, 11 * GIB // 2, None), (DeviceKind.IGPU, None, 11 * GIB // 2)],
)
def test_the_load_report_stands_in_and_is_not_split_by_guess(
    kind: DeviceKind, vram: int | None, reported: int | None
) -> None:
    snapshot = desktop(kind=kind)
    share = share_of_model(snapshot, model_on(CARD, kind, REPORT), snapshot.gpus[0])
    assert (share.vram, share.gtt, share.reported) == (vram, None, reported)
    assert share.on_gpu == 11 * GIB // 2


def test_a_model_on_another_card_has_no_share_here() -> None:
    snapshot = desktop(held=WorkerGpu(pci="0000:09:00.0", vram=GIB, gtt=0))
    share = share_of_model(snapshot, model_on("0000:09:00.0", memory=REPORT), snapshot.gpus[0])
    assert (share.vram, share.gtt, share.reported) == (None, None, None)


# --- which card (case 88) ---------------------------------------------------------------------------


def two_cards(*, swapped: bool) -> MemorySnapshot:
    apu = GpuMemory(pci=APU, name="APU", kind=DeviceKind.IGPU, vram=Pool(GIB // 2, 0), gtt=Pool(16 * GIB, 0))
    card = GpuMemory(pci=CARD, name="card", kind=DeviceKind.GPU, vram=Pool(16 * GIB, 0))
    return MemorySnapshot(gpus=(apu, card) if swapped else (card, apu), ram=RamMemory(), taken=0.0)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("model", "pci"),
    [
        (None, CARD),
        (model_on(APU, DeviceKind.IGPU), APU),
        (model_on(CARD), CARD),
        (model_on(None, DeviceKind.CPU), CARD),
    ],
)
def test_the_card_of_the_model_else_the_one_with_most_memory(
    model: ModelInfo | None, pci: str, *, swapped: bool
) -> None:
    gpu = chosen_gpu(two_cards(swapped=swapped), model)
    assert gpu is not None
    assert gpu.pci == pci


def test_a_card_that_is_not_there_is_not_replaced_by_another() -> None:
    snapshot = msgspec.structs.replace(two_cards(swapped=False), gone=(GoneGpu("0000:09:00.0", "eGPU"),))
    model = model_on("0000:09:00.0")
    assert chosen_gpu(snapshot, model) is None
    assert gone_gpu(snapshot, model) == GoneGpu("0000:09:00.0", "eGPU")
    assert gone_gpu(snapshot, None) is None
    assert chosen_gpu(snapshot, None) is not None


def test_the_only_card_that_went_away_is_missed() -> None:
    snapshot = MemorySnapshot(gpus=(), ram=RamMemory(), gone=(GoneGpu(CARD, "card"),), taken=0.0)
    assert gone_gpu(snapshot, None) == GoneGpu(CARD, "card")


def test_pages_of_libraries_are_no_model() -> None:
    """The kernel counts mapped libraries with mapped files: a file of 98 MB never shows as more."""
    mapped, size = 200 << 20, 98 << 20
    worker = WorkerMemory(pid=1, ram=GIB, mapped=mapped, gpus=())
    small = msgspec.structs.replace(model_on(None, DeviceKind.CPU), size_bytes=size)
    snapshot = MemorySnapshot(gpus=(), ram=RamMemory(total=8 * GIB, available=4 * GIB), worker=worker, taken=0.0)
    assert share_of_model(snapshot, small, None).mapped == size


@pytest.mark.parametrize(
    ("ram", "mapped", "size", "file"),
    [
        (210, 74, 92, 0),  # measured: weights of 92 MiB that were read, and 74 MiB of libraries
        (114, 166, 92, 92),  # measured: the same file, mapped
        (1300, 74, 1000, 0),
        (500, 800, 1000, 800),  # mapped, and the kernel has dropped some
    ],
)
def test_weights_that_were_read_are_no_pages_of_the_file(ram: int, mapped: int, size: int, file: int) -> None:
    share = ModelShare(pci=None, weights=size << 20, kv=45 << 20, compute=16 << 20)
    worker = WorkerMemory(pid=1, ram=ram << 20, mapped=mapped << 20)
    model = msgspec.structs.replace(model_on(None, DeviceKind.CPU), size_bytes=size << 20)
    memory = RamMemory(total=8 * GIB, available=4 * GIB)
    snapshot = MemorySnapshot(gpus=(), ram=memory, worker=worker, model=(share,), taken=0.0)
    assert share_of_model(snapshot, model, None).mapped == file << 20
    parts = {part.owner: part.size >> 20 for part in host_parts(snapshot)}
    assert (parts.get(PartOwner.FILE, 0), parts.get(PartOwner.WEIGHTS, 0)) == (file, 0 if file else size)
