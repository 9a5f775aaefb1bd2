"""What the plot of the last minutes stacks: for one kind of memory the layers, and their bytes in a sample. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from app.memory.history import GpuPoint, Point
from engine.memory.records import GpuMemory, MemorySnapshot
from engine.protocol.types import DeviceKind
from ui.memory.blocks import OF_THE_MODEL, BlockKind
from ui.memory.owners import NEARLY_ALL, Part, PartOwner
from ui.memory.page_words import card_title, owner_name, tr
from ui.memory.shares import Region

HOST = "host"


@dataclass(frozen=True)
class Layer:
    """One area of the stack."""

    region: Region
    owner: PartOwner
    name: str


@dataclass(frozen=True)
class Subject:
    """What is plotted.

    Attributes:
        key: Address of the card, or `HOST`.
        kind: ``card`` its VRAM; ``shared`` all memory of an APU's machine; ``host`` the RAM.
        total: Top of the scale, bytes.
        layers: From the bottom upwards.
    """

    key: str
    kind: BlockKind
    title: str
    total: int
    layers: tuple[Layer, ...]


def subjects(snapshot: MemorySnapshot) -> tuple[Subject, ...]:
    """What can be plotted on this machine, in the order of the page."""
    cards = sorted(snapshot.gpus, key=lambda gpu: (bool(gpu.asleep), -(gpu.vram.total or -1), gpu.pci))
    ram = snapshot.ram.total
    shared = next((gpu for gpu in cards if gpu.kind is DeviceKind.IGPU and gpu.vram.total is not None and ram), None)
    found = [_subject(gpu, snapshot, ram or 0, shared=gpu is shared) for gpu in cards if gpu.vram.total]
    if ram and shared is None:
        found.append(Subject(HOST, BlockKind.HOST, tr("System memory (RAM)"), ram, _host_layers()))
    return tuple(found)


def values(point: Point, subject: Subject) -> tuple[int, ...] | None:
    """Bytes of each layer; None when the sample does not tell."""
    if subject.kind is BlockKind.HOST:
        return _host_values(point)
    gpu = point.gpu(subject.key)
    if gpu is None or gpu.vram is None:
        return None
    if subject.kind is BlockKind.CARD:
        if gpu.asleep:
            return None
        return _stacked(gpu.vram, *_ours(gpu, gpu.ours_vram), gpu.others_vram or 0)
    if gpu.gtt is None or point.ram is None:
        return None
    graphics = gpu.vram + min(gpu.gtt, point.ram)
    used = _stacked(graphics, *_ours(gpu, gpu.ours), gpu.others or 0)
    return (*used, gpu.vram + point.ram - graphics)


def _subject(gpu: GpuMemory, snapshot: MemorySnapshot, ram: int, *, shared: bool) -> Subject:
    same = sum(other.name == gpu.name for other in snapshot.gpus)
    kind = BlockKind.SHARED if shared else BlockKind.CARD
    hue = Region.GTT if shared and (gpu.gtt.used or 0) > (gpu.vram.used or 0) else Region.VRAM
    title = tr("{card}, all memory") if shared else tr("{card}, VRAM")
    total = (gpu.vram.total or 0) + (ram if shared else 0)
    layers = _card_layers(hue)
    if shared:
        layers = (*layers, Layer(Region.RAM, PartOwner.REST, tr("RAM beside graphics")))
    return Subject(gpu.pci, kind, title.format(card=card_title(gpu, same)), total, layers)


def _card_layers(hue: Region) -> tuple[Layer, ...]:
    model = tuple(Layer(hue, owner, owner_name(Part(hue, owner, 0))) for owner in OF_THE_MODEL)
    return (
        *model,
        Layer(hue, PartOwner.ENGINE, tr("engine and Vramble")),
        Layer(hue, PartOwner.PROGRAM, tr("other programs")),
        Layer(hue, PartOwner.REST, tr("not told apart")),
    )


def _host_layers() -> tuple[Layer, ...]:
    return (
        Layer(Region.RAM, PartOwner.ENGINE, tr("engine")),
        Layer(Region.GTT, PartOwner.REST, tr("GTT")),
        Layer(Region.RAM, PartOwner.REST, tr("programs and system")),
    )


def _ours(gpu: GpuPoint, held: int | None) -> tuple[int, ...]:
    """The parts of the model and what we hold beside them; all of it undivided when less is held."""
    model = (gpu.weights, gpu.kv, gpu.compute, gpu.image, gpu.draft)
    if held is None:
        return (*model, 0)
    if held < NEARLY_ALL * sum(model):
        return (*(0 for _ in model), held)
    return (*model, max(0, held - sum(model)))


def _stacked(used: int, *wanted: int) -> tuple[int, ...]:
    """``wanted`` one after the other until ``used`` is given, and what is left."""
    given: list[int] = []
    for size in wanted:
        given.append(min(max(0, size), used - sum(given)))
    return (*given, used - sum(given))


def _host_values(point: Point) -> tuple[int, ...] | None:
    if point.ram is None:
        return None
    gtt = sum(gpu.gtt or 0 for gpu in point.gpus)
    engine, graphics, rest = _stacked(point.ram, point.worker_ram or 0, gtt)
    return (engine, graphics, rest)


def nearest(points: Sequence[Point], at: float, within: float) -> Point | None:
    """The sample next to ``at``, not further away than ``within`` seconds; ``points`` are in order."""
    place = bisect_left(points, at, key=lambda point: point.at)
    best = min(points[max(0, place - 1) : place + 1], key=lambda point: abs(point.at - at), default=None)
    return best if best is not None and abs(best.at - at) <= within else None
