"""The memory page as records: one block for each card and one for the RAM, each with a bar on one scale. Pure.

The RAM is told once: inside the block of an APU, whose memory it physically is, else in a block of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.memory.records import GoneGpu, GpuMemory, MemorySnapshot, ModelShare, ReportedGpu
from engine.protocol.types import DeviceKind, ModelInfo
from ui.memory import page_words as words
from ui.memory.owners import Part, PartOwner, host_parts, vram_parts
from ui.memory.page_words import tr
from ui.memory.shares import Region
from ui.memory.words import gib, short_name

OF_THE_MODEL = (PartOwner.WEIGHTS, PartOwner.KV, PartOwner.COMPUTE, PartOwner.IMAGE, PartOwner.DRAFT)


class BlockKind(StrEnum):
    """What a block is about. ``shared``: an APU with all memory of the machine."""

    CARD = "card"
    SHARED = "shared"
    HOST = "host"
    REPORTED = "reported"
    GONE = "gone"


class State(StrEnum):
    """Why a bar has no parts."""

    KNOWN = "known"
    ASLEEP = "asleep"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PageBar:
    """Parts from left to right, which add up to ``total`` bytes; none unless the state is ``known``."""

    total: int
    parts: tuple[Part, ...]
    state: State = State.KNOWN


@dataclass(frozen=True)
class Block:
    """A heading, live figures beside it, a bar (None: its size is not known) and sentences below."""

    key: str
    kind: BlockKind
    title: str
    facts: tuple[str, ...] = ()
    bar: PageBar | None = None
    notes: tuple[str, ...] = ()


def blocks(snapshot: MemorySnapshot | None, model: ModelInfo | None) -> tuple[Block, ...]:
    """All of the page, the card of the model first, then by size; the RAM last."""
    if snapshot is None:
        return ()
    wanted = model.device.pci if model is not None else None
    cards = sorted(
        snapshot.gpus, key=lambda gpu: (gpu.pci != wanted, bool(gpu.asleep), -(gpu.vram.total or -1), gpu.pci)
    )
    shared = next((gpu for gpu in cards if gpu.kind is DeviceKind.IGPU and gpu.vram.total is not None), None)
    if snapshot.ram.total is None:
        shared = None
    found = [_shared(gpu, snapshot) if gpu is shared else _card(gpu, snapshot) for gpu in cards]
    found += [_reported(gpu, snapshot) for gpu in snapshot.reported]
    found += [_gone(gpu) for gpu in snapshot.gone]
    if shared is None:
        found.append(_host(snapshot))
    return tuple(found)


def _card(gpu: GpuMemory, snapshot: MemorySnapshot) -> Block:
    total = gpu.vram.total
    asleep = tr("{size}, asleep").format(size=gib(total)) if total is not None else tr("asleep")
    facts = (asleep,) if gpu.asleep else (words.figures(gpu.vram.used, total), *words.sensors(gpu))
    bar = None
    if total is not None:
        parts = () if gpu.asleep else vram_parts(gpu, snapshot)
        bar = PageBar(total, parts, State.ASLEEP if gpu.asleep else State.KNOWN if parts else State.UNKNOWN)
    return Block(
        key=gpu.pci,
        kind=BlockKind.CARD,
        title=words.card_title(gpu, _namesakes(gpu, snapshot)),
        facts=facts,
        bar=bar,
        notes=_card_notes(gpu, snapshot),
    )


def _card_notes(gpu: GpuMemory, snapshot: MemorySnapshot) -> tuple[str, ...]:
    if gpu.asleep:
        return (tr("The card is switched off to save power. Loading a model onto it wakes it."),)
    if gpu.vram.total is None and gpu.gtt.total is None:
        return (tr("No GPU memory data."),)
    return (*words.card_notes(gpu, snapshot), *words.sandbox_note(snapshot))


def _shared(gpu: GpuMemory, snapshot: MemorySnapshot) -> Block:
    """One bar of all physical memory: the carve-out, then what the system sees, GTT inside of it."""
    ram = snapshot.ram
    total = (gpu.vram.total or 0) + (ram.total or 0)
    card, host = vram_parts(gpu, snapshot), host_parts(snapshot)
    known = bool(card and host)
    used = (gpu.vram.used or 0) + (ram.used or 0) if known else None
    awake = [tr("graphics asleep")] if gpu.asleep else words.sensors(gpu)
    return Block(
        key=gpu.pci,
        kind=BlockKind.SHARED,
        title=words.card_title(gpu, _namesakes(gpu, snapshot)),
        facts=(words.figures(used, total), *awake, *words.host_facts(ram, snapshot)),
        bar=PageBar(total, (*card, *host) if known else (), State.KNOWN if known else State.UNKNOWN),
        notes=(
            tr("Graphics and system share this memory."),
            *words.card_notes(gpu, snapshot),
            *words.sandbox_note(snapshot),
        ),
    )


def _host(snapshot: MemorySnapshot) -> Block:
    ram = snapshot.ram
    parts = host_parts(snapshot)
    bar = PageBar(ram.total, parts, State.KNOWN if parts else State.UNKNOWN) if ram.total is not None else None
    no_data = not snapshot.gpus and not snapshot.reported and not snapshot.gone
    return Block(
        key="host",
        kind=BlockKind.HOST,
        title=tr("System memory (RAM)"),
        facts=(words.figures(ram.used, ram.total), *words.host_facts(ram, snapshot)),
        bar=bar,
        notes=(tr("No graphics card tells about its memory here."), *words.sandbox_note(snapshot)) if no_data else (),
    )


def _reported(gpu: ReportedGpu, snapshot: MemorySnapshot) -> Block:
    """What others held when the engine started, and the model that was loaded since."""
    parts = _reported_parts(gpu, snapshot.model_on(gpu.pci or gpu.id))
    notes = [tr("As the engine reports ({backend}): what others held when it started.").format(backend=gpu.backend)]
    if gpu.kind is DeviceKind.IGPU:
        notes.append(tr("Graphics and system share this memory."))
    used = sum(part.size for part in parts if part.owner is not PartOwner.FREE) if parts else None
    bar = PageBar(gpu.total, parts, State.KNOWN if parts else State.UNKNOWN) if gpu.total else None
    return Block(
        key=gpu.pci or gpu.id,
        kind=BlockKind.REPORTED,
        title=gpu.name,
        facts=(words.figures(used, gpu.total),),
        bar=bar,
        notes=tuple(notes),
    )


def _reported_parts(gpu: ReportedGpu, share: ModelShare | None) -> tuple[Part, ...]:
    if gpu.total is None or gpu.free is None or not 0 <= gpu.free <= gpu.total:
        return ()
    sizes = {PartOwner.REST: gpu.total - gpu.free}
    left = gpu.free
    if share is not None:
        wanted = (share.weights, share.kv, share.compute + share.output, share.image, share.draft)
        for owner, size in zip(OF_THE_MODEL, wanted, strict=True):
            sizes[owner] = min(size, left)
            left -= sizes[owner]
    used = (Part(Region.VRAM, owner, sizes[owner]) for owner in (*OF_THE_MODEL, PartOwner.REST) if sizes.get(owner))
    return (*used, Part(Region.VRAM, PartOwner.FREE, left)) if left else tuple(used)


def _gone(gpu: GoneGpu) -> Block:
    return Block(
        key=gpu.pci,
        kind=BlockKind.GONE,
        title=tr("{name} is gone").format(name=short_name(gpu.name)),
        notes=(tr("It was there earlier. Its memory is shown again when it comes back."),),
    )


def _namesakes(gpu: GpuMemory, snapshot: MemorySnapshot) -> int:
    return sum(other.name == gpu.name for other in snapshot.gpus)
