"""Which part of each memory is whose, as finely as engine and kernel tell. Pure.

The engine knows what weights, KV cache and compute buffers take on a card, but not where the driver put them; the
kernel knows how much of each memory a process holds, but not what for. Both are laid over each other only where that
is certain: when all of the model fits into one kind of memory that the worker holds. Else the model's share stays
one part, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from engine.memory.owners import maps_weights
from engine.memory.records import GpuMemory, MemorySnapshot, ModelShare, ProcessMemory, WorkerMemory
from engine.protocol.types import DeviceKind
from ui.memory.shares import Region

NAMED = 5
"""So many programs are told by name; the others are one part."""

NEARLY_ALL = 0.95
"""The engine and the kernel round differently: a model lies where the worker holds so much of its size."""


class PartOwner(StrEnum):
    """Who holds a part.

    ``model``: of the model, but not told apart. ``spilled``: what the worker wants in VRAM and the driver pushed out.
    ``engine``: what the worker holds beside the model (driver, libraries, buffers). ``rest``: in use, nobody says by
    whom; ``system`` the same where programs are told. ``file``: pages of the model's file, which count as available.
    """

    WEIGHTS = "weights"
    KV = "kv"
    COMPUTE = "compute"
    IMAGE = "image"
    DRAFT = "draft"
    MODEL = "model"
    SPILLED = "spilled"
    ENGINE = "engine"
    OURS = "ours"
    PROGRAM = "program"
    PROGRAMS = "programs"
    REST = "rest"
    SYSTEM = "system"
    ZRAM = "zram"
    FILE = "file"
    FREE = "free"


@dataclass(frozen=True)
class Part:
    """``size`` bytes of one kind of memory. ``name``: the program; ``card``: address of the card whose GTT it is."""

    region: Region
    owner: PartOwner
    size: int
    name: str = ""
    card: str = ""


@dataclass
class _Filling:
    """Gives a memory's used bytes to owners until all are given; nobody gets more than is left."""

    region: Region
    left: int
    card: str = ""
    parts: list[Part] = field(default_factory=list)

    def put(self, owner: PartOwner, size: int | None, name: str = "") -> None:
        taken = min(max(0, size or 0), self.left)
        if taken:
            self.parts.append(Part(self.region, owner, taken, name, self.card))
            self.left -= taken

    def put_model(self, share: ModelShare) -> None:
        self.put(PartOwner.WEIGHTS, share.weights)
        self.put(PartOwner.KV, share.kv)
        self.put(PartOwner.COMPUTE, share.compute + share.output)
        self.put(PartOwner.IMAGE, share.image)
        self.put(PartOwner.DRAFT, share.draft)

    def put_programs(self, sizes: Sequence[tuple[str, int]]) -> None:
        """Other programs, the largest first; those beyond `NAMED` are one part."""
        for name, size in sizes[:NAMED]:
            self.put(PartOwner.PROGRAM, size, name)
        self.put(PartOwner.PROGRAMS, sum(size for _, size in sizes[NAMED:]), str(len(sizes[NAMED:])))


def vram_parts(gpu: GpuMemory, snapshot: MemorySnapshot) -> tuple[Part, ...]:
    """Of the card's own memory (an APU's carve-out), free memory last; empty when its use is not known."""
    if gpu.vram.used is None or gpu.vram.free is None:
        return ()
    filling = _of_card(gpu, snapshot, Region.VRAM, gpu.vram.used)
    return (*filling.parts, *_free(Region.VRAM, gpu.vram.free))


def host_parts(snapshot: MemorySnapshot) -> tuple[Part, ...]:
    """Of the RAM: GTT of each card, then what else is in use, file pages of the model, and what is free."""
    ram, worker = snapshot.ram, snapshot.worker
    if ram.used is None or ram.available is None:
        return ()
    left, parts = ram.used, []
    for gpu in snapshot.gpus:
        filling = _of_card(gpu, snapshot, Region.GTT, min(gpu.gtt.used or 0, left))
        parts += filling.parts
        left -= sum(part.size for part in filling.parts)
    filling = _Filling(Region.RAM, left)
    host = snapshot.model_on(None)
    _put_worker(filling, worker, host)
    for program in (one for one in snapshot.programs if one.ours):
        filling.put(PartOwner.OURS, program.ram, program.name)
    others = [(program.name, program.ram) for program in snapshot.programs if not program.ours]
    filling.put(PartOwner.ZRAM, ram.zram.taken if ram.zram is not None else None)
    filling.put_programs(others)
    filling.put(PartOwner.SYSTEM if others else PartOwner.REST, filling.left)
    files = _file_pages(snapshot, worker, host, ram.available)
    pages = [Part(Region.RAM, PartOwner.FILE, files)] if files else []
    return (*parts, *filling.parts, *pages, *_free(Region.RAM, ram.available - files))


def _file_pages(snapshot: MemorySnapshot, worker: WorkerMemory | None, host: ModelShare | None, available: int) -> int:
    """Bytes of the model's file in memory; mapped pages of libraries are no model."""
    if worker is None or (host is not None and not maps_weights(worker, host)):
        return 0
    return min(worker.mapped or 0, available, sum(share.weights for share in snapshot.model))


def place_of(share: ModelShare, gpu: GpuMemory, worker: WorkerMemory | None) -> Region | None:
    """The memory in which all of the model's share on ``gpu`` lies; None when that cannot be told."""
    held = worker.on(gpu.pci) if worker is not None else None
    told = held is not None and (held.vram is not None or held.gtt is not None)
    if not told and gpu.kind is DeviceKind.GPU:
        return Region.VRAM
    vram, gtt = (held.vram, held.gtt) if told and held is not None else (gpu.vram.used, gpu.gtt.used)
    least = NEARLY_ALL * share.total
    in_vram, in_gtt = (vram or 0) >= least, (gtt or 0) >= least
    if in_vram and in_gtt:
        return None if not told else Region.VRAM if (vram or 0) >= (gtt or 0) else Region.GTT
    return Region.VRAM if in_vram else Region.GTT if in_gtt else None


def grouped(processes: Iterable[ProcessMemory], region: Region) -> list[tuple[str, int]]:
    """Programs with what their processes hold together in ``region``, largest first; processes of one name are one."""
    sums: dict[str, int] = {}
    for process in processes:
        size = process.vram if region is Region.VRAM else process.gtt
        if size:
            sums[process.name] = sums.get(process.name, 0) + size
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def _of_card(gpu: GpuMemory, snapshot: MemorySnapshot, region: Region, used: int) -> _Filling:
    filling = _Filling(region, used, gpu.pci if region is Region.GTT else "")
    _put_held(filling, gpu, snapshot)
    worker = snapshot.worker.pid if snapshot.worker is not None else None
    others = [process for process in gpu.processes if process.pid != worker]
    for name, size in grouped((process for process in others if process.ours), region):
        filling.put(PartOwner.OURS, size, name)
    filling.put_programs(grouped((process for process in others if not process.ours), region))
    filling.put(PartOwner.REST, filling.left)
    return filling


def _put_held(filling: _Filling, gpu: GpuMemory, snapshot: MemorySnapshot) -> None:
    """What the worker holds of one memory of one card."""
    share = snapshot.model_on(gpu.pci)
    held = snapshot.worker.on(gpu.pci) if snapshot.worker is not None else None
    size = None if held is None else held.vram if filling.region is Region.VRAM else held.gtt
    place = place_of(share, gpu, snapshot.worker) if share is not None else None
    rest = size or 0
    if share is not None and place is filling.region:
        filling.put_model(share)
        rest -= share.total
    elif share is not None and place is None and size:
        filling.put(PartOwner.MODEL, size)
        return
    if filling.region is Region.GTT and held is not None and gpu.kind is DeviceKind.GPU:
        spilled = min(held.evicted or 0, max(0, rest))
        filling.put(PartOwner.SPILLED, spilled)
        rest -= spilled
    filling.put(PartOwner.ENGINE, rest)


def _put_worker(filling: _Filling, worker: WorkerMemory | None, share: ModelShare | None) -> None:
    """The worker's private memory. Weights in mapped file pages are not private: they are told apart as ``file``."""
    held = worker.ram if worker is not None else None
    if worker is None or held is None:
        return
    if share is None:
        filling.put(PartOwner.ENGINE, held)
        return
    private = msgspec.structs.replace(share, weights=0) if maps_weights(worker, share) else share
    if held >= private.total:
        filling.put_model(private)
        filling.put(PartOwner.ENGINE, held - private.total)
    else:
        filling.put(PartOwner.MODEL, held)


def _free(region: Region, size: int) -> tuple[Part, ...]:
    return (Part(region, PartOwner.FREE, size),) if size > 0 else ()
