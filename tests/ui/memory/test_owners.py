"""Whose each byte is: parts add up, nothing is counted twice, nothing is guessed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.records import (
    GpuMemory,
    MemorySnapshot,
    ModelShare,
    Pool,
    ProcessMemory,
    Program,
    RamMemory,
    WorkerGpu,
    WorkerMemory,
    Zram,
)
from engine.protocol.types import DeviceKind
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import CARD, GIB, WORKER, desktop
from ui.memory.owners import NAMED, Part, PartOwner, host_parts, place_of, vram_parts
from ui.memory.shares import Region

SHARE = ModelShare(pci=CARD, weights=4 * GIB, kv=GIB, compute=GIB // 2, output=GIB // 2)


def sizes(parts: tuple[Part, ...], region: Region | None = None) -> dict[PartOwner, float]:
    """GiB of each owner."""
    found: dict[PartOwner, float] = {}
    for part in parts:
        if region is None or part.region is region:
            found[part.owner] = found.get(part.owner, 0) + part.size / GIB
    return found


def with_processes(snapshot: MemorySnapshot, *processes: ProcessMemory) -> MemorySnapshot:
    return msgspec.structs.replace(
        snapshot, gpus=tuple(msgspec.structs.replace(gpu, processes=processes) for gpu in snapshot.gpus)
    )


def with_share(snapshot: MemorySnapshot, *shares: ModelShare) -> MemorySnapshot:
    return msgspec.structs.replace(snapshot, model=shares)


def test_a_model_in_vram_is_told_by_the_engines_figures() -> None:
    snapshot = with_share(desktop(held=WorkerGpu(pci=CARD, vram=7 * GIB, gtt=GIB // 4)), SHARE)
    assert sizes(vram_parts(snapshot.gpus[0], snapshot)) == {
        PartOwner.WEIGHTS: 4, PartOwner.KV: 1, PartOwner.COMPUTE: 1, PartOwner.ENGINE: 1, PartOwner.REST: 3,
        PartOwner.FREE: 14,
    }  # fmt: skip
    assert sizes(host_parts(snapshot), Region.GTT) == {PartOwner.ENGINE: 0.25, PartOwner.REST: 0.75}


def test_without_the_kernels_word_a_card_of_its_own_holds_the_model() -> None:
    snapshot = with_share(desktop(), SHARE)
    assert sizes(vram_parts(snapshot.gpus[0], snapshot))[PartOwner.WEIGHTS] == 4


def test_a_model_in_both_memories_is_not_divided() -> None:
    held = WorkerGpu(pci=CARD, vram=3 * GIB, gtt=GIB)
    snapshot = with_share(desktop(held=held, kind=DeviceKind.IGPU), SHARE)
    assert place_of(SHARE, snapshot.gpus[0], snapshot.worker) is None
    assert PartOwner.WEIGHTS not in sizes(vram_parts(snapshot.gpus[0], snapshot))
    assert sizes(vram_parts(snapshot.gpus[0], snapshot))[PartOwner.MODEL] == 3
    assert sizes(host_parts(snapshot), Region.GTT)[PartOwner.MODEL] == 1


def test_an_apu_of_which_nothing_is_told_shows_no_parts_of_a_model_that_fits_both_memories() -> None:
    snapshot = with_share(desktop(gtt=Pool(16 * GIB, 9 * GIB), kind=DeviceKind.IGPU), SHARE)
    assert place_of(SHARE, snapshot.gpus[0], None) is None
    parts = (*vram_parts(snapshot.gpus[0], snapshot), *host_parts(snapshot))
    assert not {PartOwner.WEIGHTS, PartOwner.MODEL} & set(sizes(parts))


def test_what_was_pushed_out_of_vram_is_marked_in_the_ram() -> None:
    held = WorkerGpu(pci=CARD, vram=7 * GIB, gtt=2 * GIB, evicted=GIB)
    snapshot = with_share(desktop(gtt=Pool(16 * GIB, 3 * GIB), held=held), SHARE)
    assert sizes(host_parts(snapshot), Region.GTT) == {PartOwner.SPILLED: 1, PartOwner.ENGINE: 1, PartOwner.REST: 1}


def test_programs_are_told_by_name_the_largest_first_and_the_rest_together() -> None:
    programs = [ProcessMemory(pid=n, name=f"p{n}", vram=(10 - n) * GIB // 10) for n in range(8)]
    twin = ProcessMemory(pid=90, name="p7", vram=GIB)
    own = ProcessMemory(pid=91, name="vramble", vram=GIB // 2, ours=True)
    parts = vram_parts(*_first(with_processes(desktop(), *programs, twin, own)))
    named = [part.name for part in parts if part.owner is PartOwner.PROGRAM]
    assert named == ["p7", "p0", "p1", "p2", "p3"]
    assert len(named) == NAMED
    assert [part.name for part in parts if part.owner is PartOwner.PROGRAMS] == ["3"]
    assert [part.name for part in parts if part.owner is PartOwner.OURS] == ["vramble"]


def test_the_worker_is_no_other_program() -> None:
    held = WorkerGpu(pci=CARD, vram=2 * GIB)
    worker = ProcessMemory(pid=WORKER, name="python3", vram=2 * GIB)
    parts = vram_parts(*_first(with_processes(desktop(held=held), worker)))
    assert sizes(parts) == {PartOwner.ENGINE: 2, PartOwner.REST: 8, PartOwner.FREE: 14}


def test_ram_of_the_worker_beside_pages_of_the_models_file() -> None:
    share = ModelShare(pci=None, weights=2 * GIB, kv=GIB // 4, compute=GIB // 4)
    worker = WorkerMemory(pid=WORKER, ram=GIB, mapped=2 * GIB)
    ram = RamMemory(total=32 * GIB, available=20 * GIB, zram=Zram(stored=3 * GIB, taken=GIB))
    snapshot = MemorySnapshot(gpus=(), ram=ram, worker=worker, model=(share,), taken=0.0)
    assert sizes(host_parts(snapshot)) == {
        PartOwner.KV: 0.25, PartOwner.COMPUTE: 0.25, PartOwner.ENGINE: 0.5, PartOwner.ZRAM: 1, PartOwner.REST: 10,
        PartOwner.FILE: 2, PartOwner.FREE: 18,
    }  # fmt: skip
    unmapped = msgspec.structs.replace(snapshot, worker=WorkerMemory(pid=WORKER, ram=3 * GIB, mapped=0))
    assert sizes(host_parts(unmapped))[PartOwner.WEIGHTS] == 2
    short = msgspec.structs.replace(snapshot, worker=WorkerMemory(pid=WORKER, ram=GIB // 4, mapped=2 * GIB))
    assert sizes(host_parts(short))[PartOwner.MODEL] == 0.25


@pytest.mark.parametrize(
    "spoilt", [{"vram": Pool(24 * GIB, None)}, {"vram": Pool(None, GIB)}, {"ram": RamMemory(total=GIB)}]
)
def test_unknown_is_no_part(spoilt: dict[str, Any]) -> None:
    snapshot = desktop(**spoilt)
    parts = host_parts(snapshot) if "ram" in spoilt else vram_parts(snapshot.gpus[0], snapshot)
    assert parts == ()


@pytest.mark.parametrize("name", machines())
def test_parts_of_every_machine_add_up(recorded: dict[str, MemorySnapshot], name: str) -> None:
    snapshot = recorded[name]
    for gpu in snapshot.gpus:
        assert sum(part.size for part in vram_parts(gpu, snapshot)) == gpu.vram.total
    assert sum(part.size for part in host_parts(snapshot)) == snapshot.ram.total


some = st.integers(0, 40)
maybe = st.none() | some


@given(
    vram=st.tuples(some, some), gtt=st.tuples(some, maybe), ram=st.tuples(some, some),
    held=st.tuples(maybe, maybe, maybe),
    share=st.tuples(some, some, some), worker=st.tuples(maybe, maybe),
    programs=st.lists(st.tuples(maybe, maybe, st.booleans())),
    kind=st.sampled_from([DeviceKind.GPU, DeviceKind.IGPU, None]), zram=maybe,
)  # fmt: skip
def test_any_figures_add_up_and_no_part_is_empty(
    vram: Any, gtt: Any, ram: Any, held: Any, share: Any, worker: Any, programs: Any, kind: Any, zram: Any
) -> None:
    processes = tuple(
        ProcessMemory(pid=n, name=f"p{n % 7}", vram=one, gtt=two, ours=ours)
        for n, (one, two, ours) in enumerate(programs)
    )
    gpu = GpuMemory(
        pci=CARD, name="card", kind=kind, vram=Pool(sum(vram), vram[0]), gtt=Pool(gtt[0], gtt[1]), processes=processes
    )
    snapshot = MemorySnapshot(
        gpus=(gpu,),
        ram=RamMemory(total=sum(ram), available=ram[0], zram=Zram(taken=zram)),
        worker=WorkerMemory(
            pid=1, ram=worker[0], mapped=worker[1],
            gpus=(WorkerGpu(pci=CARD, vram=held[0], gtt=held[1], evicted=held[2]),),
        ),
        model=(
            ModelShare(pci=CARD, weights=share[0], kv=share[1], compute=share[2]),
            ModelShare(pci=None, weights=share[0], kv=share[1]),
        ),
        taken=0.0,
    )  # fmt: skip
    for parts, total in ((vram_parts(gpu, snapshot), sum(vram)), (host_parts(snapshot), sum(ram))):
        assert sum(part.size for part in parts) == total
        assert all(part.size > 0 for part in parts)


def _first(snapshot: MemorySnapshot) -> tuple[GpuMemory, MemorySnapshot]:
    return snapshot.gpus[0], snapshot


def test_image_encoder_and_draft_model_are_parts_of_their_own() -> None:
    share = msgspec.structs.replace(SHARE, image=GIB // 2, draft=GIB // 4)
    snapshot = with_share(desktop(held=WorkerGpu(pci=CARD, vram=7 * GIB)), share)
    found = sizes(vram_parts(snapshot.gpus[0], snapshot))
    assert (found[PartOwner.IMAGE], found[PartOwner.DRAFT], found[PartOwner.ENGINE]) == (0.5, 0.25, 0.25)
    in_ram = msgspec.structs.replace(share, pci=None, weights=0, kv=0, compute=GIB // 8, output=0)
    snapshot = with_share(desktop(held=WorkerGpu(pci=CARD)), in_ram)
    found = sizes(host_parts(snapshot), Region.RAM)
    assert (found[PartOwner.IMAGE], found[PartOwner.DRAFT]) == (0.5, 0.25)


def with_programs(snapshot: MemorySnapshot, *programs: Program) -> MemorySnapshot:
    return msgspec.structs.replace(snapshot, programs=programs)


def test_ram_of_other_programs_by_name() -> None:
    programs = [Program(name=f"p{number}", ram=GIB - number) for number in range(NAMED + 2)]
    ours = Program(name="vramble", ram=GIB // 4, ours=True)
    found = host_parts(with_programs(desktop(held=WorkerGpu(pci=CARD)), *programs, ours))
    named = [part for part in found if part.owner is PartOwner.PROGRAM]
    assert [part.name for part in named] == [f"p{number}" for number in range(NAMED)]
    assert next(part for part in found if part.owner is PartOwner.PROGRAMS).name == "2"
    assert next(part for part in found if part.owner is PartOwner.OURS).size == GIB // 4
    assert sum(part.size for part in found) == 32 * GIB
    assert sizes(found)[PartOwner.SYSTEM] == pytest.approx(12 - 1 - 1 - 0.25 - (NAMED + 2), abs=0.001)
    assert PartOwner.REST not in sizes(found, Region.RAM)


def test_programs_never_get_more_than_is_in_use() -> None:
    found = host_parts(with_programs(desktop(), Program(name="huge", ram=100 * GIB)))
    assert sizes(found, Region.RAM) == {PartOwner.PROGRAM: 11, PartOwner.FREE: 20}


def test_where_no_other_program_is_seen_the_rest_is_not_told_apart() -> None:
    snapshot = with_programs(desktop(), Program(name="vramble", ram=GIB, ours=True))
    assert sizes(host_parts(snapshot), Region.RAM) == {PartOwner.OURS: 1, PartOwner.REST: 10, PartOwner.FREE: 20}


def test_a_recorded_deck_names_its_programs(recorded: dict[str, MemorySnapshot]) -> None:
    names = [program.name for program in recorded["steam_deck"].programs]
    assert names == ["Hades.exe", "steamwebhelper", "steam", "kwin_wayland", "vkcube-wayland"]
    helper = recorded["steam_deck"].programs[1]
    assert helper.processes == 2
