"""Which memory is whose: from a snapshot to bars made of segments. Pure.

One scale for each bar. GTT is system memory that the graphics card maps, so it is a part of the RAM and is drawn
inside it. On an APU everything is the same physical memory: one bar, with the carve-out beside what the system sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.memory.owners import maps_weights
from engine.memory.records import (
    GoneGpu,
    GpuMemory,
    MemorySnapshot,
    ModelShare,
    Pool,
    RamMemory,
    ReportedGpu,
    WorkerMemory,
)
from engine.protocol.types import DeviceKind, ModelInfo


class Region(StrEnum):
    """Kind of memory."""

    VRAM = "vram"
    GTT = "gtt"
    RAM = "ram"


class Owner(StrEnum):
    """Who holds it. ``mapped`` are file pages of the model that the kernel may drop: they count as available."""

    MODEL = "model"
    OTHER = "other"
    MAPPED = "mapped"
    FREE = "free"


class BarKind(StrEnum):
    """What a bar spans; ``whole`` is all memory of a machine whose graphics shares it."""

    VRAM = "vram"
    RAM = "ram"
    WHOLE = "whole"


@dataclass(frozen=True)
class Segment:
    """A part of a bar, bytes."""

    region: Region
    owner: Owner
    size: int


@dataclass(frozen=True)
class Bar:
    """Segments from left to right; their sizes add up to ``total``. None: nothing is known of the use."""

    kind: BarKind
    total: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Share:
    """What the engine holds for the model (weights, KV cache, compute buffers), bytes; None where it cannot be told.

    Pages of the model's file that the kernel may drop are not held: they are ``mapped``, and count apart.
    """

    vram: int | None = None
    gtt: int | None = None
    ram: int | None = None
    mapped: int | None = None
    reported: int | None = None
    """What llama.cpp says it took on the device, where the kernel does not tell."""

    @property
    def on_gpu(self) -> int | None:
        """On the graphics card, in either memory."""
        parts = [part for part in (self.vram, self.gtt) if part is not None]
        return sum(parts) if parts else self.reported


def chosen_gpu(snapshot: MemorySnapshot, model: ModelInfo | None) -> GpuMemory | None:
    """The card the model runs on, else the one with the most memory of its own; None when that card is not there."""
    if model is not None and model.device.pci is not None:
        return snapshot.gpu(model.device.pci)
    return max(snapshot.gpus, key=lambda gpu: (gpu.vram.total or -1, gpu.pci), default=None)


def gone_gpu(snapshot: MemorySnapshot, model: ModelInfo | None) -> GoneGpu | None:
    """The card the model ran on, or the only one, when it has gone away."""
    wanted = model.device.pci if model is not None else None
    if wanted is not None:
        return next((gone for gone in snapshot.gone if gone.pci == wanted), None)
    return snapshot.gone[0] if snapshot.gone and not snapshot.gpus else None


def reported_card(snapshot: MemorySnapshot, model: ModelInfo | None) -> ReportedGpu | None:
    """Of the cards that only the engine knows the model's, else the largest."""
    wanted = (model.device.pci, model.device.id) if model is not None else ()
    found = sorted(snapshot.reported, key=lambda card: (not {card.pci, card.id} & set(wanted), -(card.total or 0)))
    return next(iter(found), None)


def share_of_model(snapshot: MemorySnapshot, model: ModelInfo | None, gpu: GpuMemory | None) -> Share:
    """The worker's memory by the kernel; for the card by llama.cpp's own report where the kernel is silent.

    What the worker holds on the card counts before the load is done, so that it can be seen growing; its RAM does
    not, because a worker without a model needs some too.
    """
    worker = snapshot.worker
    ram = worker.ram if worker is not None and model is not None else None
    mapped = _of_the_file(worker, model, snapshot.model_on(None))
    held = worker.on(gpu.pci) if worker is not None and gpu is not None else None
    if held is not None and (held.vram is not None or held.gtt is not None):
        return Share(held.vram, held.gtt, ram, mapped)
    reported = _reported(model)
    if gpu is None or model is None or model.device.pci != gpu.pci or reported is None:
        return Share(None, None, ram, mapped)
    if gpu.kind is DeviceKind.GPU:
        return Share(reported, None, ram, mapped)
    return Share(None, None, ram, mapped, reported)


def _of_the_file(worker: WorkerMemory | None, model: ModelInfo | None, host: ModelShare | None) -> int | None:
    """Mapped pages that can be the model's file: the kernel counts the pages of libraries with them."""
    if worker is None or model is None or worker.mapped is None:
        return None
    if host is not None and not maps_weights(worker, host):
        return 0
    return min(worker.mapped, model.size_bytes)


def _reported(model: ModelInfo | None) -> int | None:
    if model is None:
        return None
    uses = [use for use in model.memory if use.device == model.device.id]
    return sum(use.total for use in uses) if uses else None


def bars(gpu: GpuMemory | None, ram: RamMemory, share: Share) -> tuple[Bar, ...]:
    """The bars that can be drawn: those whose total is known."""
    gtt = gpu.gtt if gpu is not None else Pool()
    host = _host_segments(gtt, ram, share)
    card = _card_segments(gpu.vram, share) if gpu is not None else ()
    if gpu is None or gpu.vram.total is None:
        return () if ram.total is None else (Bar(BarKind.RAM, ram.total, host),)
    if gpu.kind is DeviceKind.IGPU and ram.total is not None:
        known = bool(card and host)
        return (Bar(BarKind.WHOLE, gpu.vram.total + ram.total, card + host if known else ()),)
    vram = Bar(BarKind.VRAM, gpu.vram.total, card)
    return (vram,) if ram.total is None else (vram, Bar(BarKind.RAM, ram.total, host))


def _card_segments(vram: Pool, share: Share) -> tuple[Segment, ...]:
    if vram.used is None or vram.free is None:
        return ()
    model = min(share.vram or 0, vram.used)
    return _present(
        Segment(Region.VRAM, Owner.MODEL, model),
        Segment(Region.VRAM, Owner.OTHER, vram.used - model),
        Segment(Region.VRAM, Owner.FREE, vram.free),
    )


def _host_segments(gtt: Pool, ram: RamMemory, share: Share) -> tuple[Segment, ...]:
    if ram.used is None or ram.available is None:
        return ()
    mapped_by_gpu = min(gtt.used or 0, ram.used)
    model_gtt = min(share.gtt or 0, mapped_by_gpu)
    rest = ram.used - mapped_by_gpu
    model_ram = min(share.ram or 0, rest)
    files = min(share.mapped or 0, ram.available)
    return _present(
        Segment(Region.GTT, Owner.MODEL, model_gtt),
        Segment(Region.GTT, Owner.OTHER, mapped_by_gpu - model_gtt),
        Segment(Region.RAM, Owner.MODEL, model_ram),
        Segment(Region.RAM, Owner.OTHER, rest - model_ram),
        Segment(Region.RAM, Owner.MAPPED, files),
        Segment(Region.RAM, Owner.FREE, ram.available - files),
    )


def _present(*segments: Segment) -> tuple[Segment, ...]:
    return tuple(segment for segment in segments if segment.size > 0)
