"""From the figures to the items of the strip, most important first in rank. Pure, apart from translation."""

from __future__ import annotations

from dataclasses import dataclass

from engine.memory.records import GpuMemory, MemorySnapshot
from engine.protocol.types import DeviceKind, ModelInfo
from ui.memory import words
from ui.memory.layout import Form, Item
from ui.memory.shares import (
    Bar,
    BarKind,
    Owner,
    Region,
    Share,
    bars,
    chosen_gpu,
    gone_gpu,
    reported_card,
    share_of_model,
)
from ui.memory.words import gib, number, short_name, tr

MAIN_BAR, SIDE_BAR = 120.0, 80.0
"""Smallest useful widths, pixels at scale 1."""


@dataclass(frozen=True)
class View:
    """Everything the strip shows: ``items`` to paint, ``lines`` to read."""

    items: tuple[Item, ...] = ()
    lines: tuple[str, ...] = ()


def view(snapshot: MemorySnapshot | None, model: ModelInfo | None, speed: float | None, scale: float = 1.0) -> View:
    """What is true now."""
    if snapshot is None:
        text = tr("No memory data")
        return View((_note(text),), (text + ".",))
    gpu = chosen_gpu(snapshot, model)
    share = share_of_model(snapshot, model, gpu)
    drawn = {bar.kind: bar for bar in bars(gpu, snapshot.ram, share)}
    items = [*_state_items(snapshot, model, gpu), *_pool_items(snapshot, gpu, drawn, scale)]
    items += [*_model_items(model, gpu, share), *_file_items(model, share), *_sensor_items(gpu), *_speed_items(speed)]
    return View(tuple(items), tuple(words.lines(snapshot, gpu, share, speed)))


def _note(text: str) -> Item:
    return Item(forms=(Form(text),), muted=True)


def _state_items(snapshot: MemorySnapshot, model: ModelInfo | None, gpu: GpuMemory | None) -> list[Item]:
    gone = gone_gpu(snapshot, model) if gpu is None else None
    if gone is not None:
        return [_note(tr("{name} is gone").format(name=short_name(gone.name)))]
    if not words.has_memory_data(gpu):
        return [_reported(snapshot, model) or _note(tr("No GPU memory data"))]
    assert gpu is not None
    name = short_name(gpu.name)
    if gpu.asleep:
        return [
            Item(forms=(Form(tr("{name} is asleep").format(name=name)), Form(tr("asleep"))), ranks=(38,), muted=True)
        ]
    if len(snapshot.gpus) > 1:
        return [Item(forms=(Form(name), Form()), ranks=(20,), muted=True)]
    return []


def _reported(snapshot: MemorySnapshot, model: ModelInfo | None) -> Item | None:
    """A card of which only the engine tells: what others held when it started, and the model."""
    card = reported_card(snapshot, model)
    if card is None or card.total is None:
        return None
    used = words.reported_use(card, snapshot)
    name = short_name(card.name)
    whole = tr("{name} {figures}, by the engine").format(name=name, figures=words.used_of(used, card.total))
    return Item(forms=(Form(whole), Form(f"{name} {number(used)}/{number(card.total)}")), ranks=(46,), muted=True)


def _pool_items(snapshot: MemorySnapshot, gpu: GpuMemory | None, drawn: dict[BarKind, Bar], scale: float) -> list[Item]:
    ram = snapshot.ram
    items = []
    if BarKind.WHOLE in drawn:
        items.append(_bar(drawn[BarKind.WHOLE], MAIN_BAR * scale, 1, ()))
    if words.has_memory_data(gpu):
        assert gpu is not None
        items.append(_figure("VRAM", gpu.vram.used, gpu.vram.total, (Region.VRAM, Owner.OTHER), (45, 85)))
        if BarKind.VRAM in drawn:
            items.append(_bar(drawn[BarKind.VRAM], MAIN_BAR * scale, 3, (90,)))
        items.append(_gtt(gpu))
    items.append(_figure("RAM", ram.used, ram.total, (Region.RAM, Owner.OTHER), (44, 84)))
    if BarKind.RAM in drawn:
        items.append(_bar(drawn[BarKind.RAM], SIDE_BAR * scale, 2, (50,)))
    return items


def _bar(bar: Bar, least: float, weight: int, ranks: tuple[int, ...]) -> Item:
    return Item(bar=bar, least=least, weight=weight, ranks=ranks)


def _figure(name: str, used: int | None, total: int | None, key: tuple[Region, Owner], ranks: tuple[int, int]) -> Item:
    """``VRAM 9.6 / 24.0 GiB``, shorter ``VRAM 9.6/24.0``, shortest ``VRAM 9.6``."""
    if total is None:
        return Item(forms=(Form(f"{name} {gib(used)}"),), key=key)
    widest, whole = number(total), number(total)
    forms = (
        Form(f"{name} {number(used)} / {whole} GiB", f"{name} {widest} / {whole} GiB"),
        Form(f"{name} {number(used)}/{whole}", f"{name} {widest}/{whole}"),
        Form(f"{name} {number(used)}", f"{name} {widest}"),
    )
    return Item(forms=forms, ranks=ranks, key=key)


def _gtt(gpu: GpuMemory) -> Item:
    key = (Region.GTT, Owner.OTHER)
    if gpu.kind is DeviceKind.IGPU:
        return _figure("GTT", gpu.gtt.used, gpu.gtt.total, key, (43, 83))
    text = f"GTT {number(gpu.gtt.used)}"
    return Item(forms=(Form(text, "GTT 00.0"), Form()), ranks=(60,), key=key)


def _model_items(model: ModelInfo | None, gpu: GpuMemory | None, share: Share) -> list[Item]:
    """The model's own share, on the card where there is one, else in the RAM."""
    if model is None:
        return []
    on_gpu = gpu is not None and model.device.pci == gpu.pci
    size = share.on_gpu if on_gpu else share.ram
    if size is None:
        return []
    mostly_gtt = (share.gtt or 0) > (share.vram or 0) or share.reported is not None
    region = Region.RAM if not on_gpu else Region.GTT if mostly_gtt else Region.VRAM
    text, reserve = tr("Model {size}").format(size=gib(size)), tr("Model {size}").format(size="00.0 GiB")
    return [Item(forms=(Form(text, reserve), Form()), ranks=(75,), key=(region, Owner.MODEL), far=True)]


def _file_items(model: ModelInfo | None, share: Share) -> list[Item]:
    """Pages of the model's file, dotted in the bar of the RAM; on the CPU they are its weights."""
    if not share.mapped or model is None or model.device.kind is not DeviceKind.CPU:
        return []
    text, reserve = tr("File {size}").format(size=gib(share.mapped)), tr("File {size}").format(size="00.0 GiB")
    return [Item(forms=(Form(text, reserve), Form()), ranks=(48,), key=(Region.RAM, Owner.MAPPED), far=True)]


def _sensor_items(gpu: GpuMemory | None) -> list[Item]:
    if gpu is None:
        return []
    items = []
    if gpu.temperature_c is not None:
        items.append((f"{gpu.temperature_c:.0f} °C", "00 °C", 40))
    if gpu.power_w is not None:
        items.append((f"{gpu.power_w:.0f} W", "000 W", 30))
    return [
        Item(forms=(Form(text, reserve), Form()), ranks=(rank,), muted=True, far=True) for text, reserve, rank in items
    ]


def _speed_items(speed: float | None) -> list[Item]:
    if not speed or speed <= 0:
        return []
    return [Item(forms=(Form(f"{speed:.1f} tok/s", "000.0 tok/s"), Form()), ranks=(70,), far=True)]
