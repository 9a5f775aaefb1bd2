"""Texts of the memory strip, from records. Pure, apart from translation."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory, ReportedGpu
from engine.memory.sizes import gib_number
from engine.protocol.types import DeviceKind
from ui.memory.shares import Owner, Share


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("MemoryStrip", text)


def number(size: int | None) -> str:
    """GiB with one decimal and no unit; what is little but not nothing is ``<0.1``."""
    return tr("unknown") if size is None else gib_number(size)


def gib(size: int | None) -> str:
    """The same with its unit."""
    return tr("unknown") if size is None else f"{number(size)} GiB"


def used_of(used: int | None, total: int | None) -> str:
    """``9.6 of 24.0 GiB``."""
    if total is None:
        return gib(used)
    return tr("{used} of {total} GiB").format(used=number(used), total=number(total))


def reported_use(card: ReportedGpu, snapshot: MemorySnapshot) -> int | None:
    """What others held when the engine started, and the model that was loaded since; None: not known."""
    if card.total is None or card.free is None or not 0 <= card.free <= card.total:
        return None
    share = snapshot.model_on(card.pci or card.id)
    return min(card.total, card.total - card.free + (share.total if share is not None else 0))


def short_name(name: str) -> str:
    """``RX 7900 XTX`` for ``AMD Radeon RX 7900 XTX``, ``780M`` for ``AMD Radeon 780M Graphics``."""
    return name.removeprefix("AMD ").removeprefix("Radeon ").removesuffix(" Graphics") or name


def has_memory_data(gpu: GpuMemory | None) -> bool:
    """Whether anything is known of the card's memory."""
    return gpu is not None and (gpu.vram != Pool() or gpu.gtt != Pool())


def owner_word(owner: Owner) -> str:
    """The word inside a segment that is wide enough for it."""
    return {
        Owner.MODEL: tr("model"),
        Owner.OTHER: tr("other"),
        Owner.MAPPED: tr("model file"),
        Owner.FREE: tr("free"),
    }[owner]


def sensor_texts(gpu: GpuMemory | None) -> list[str]:
    """Load, temperature and power, as far as they are known."""
    if gpu is None:
        return []
    texts = []
    if gpu.busy_percent is not None:
        texts.append(tr("Load {n} %").format(n=gpu.busy_percent))
    if gpu.temperature_c is not None:
        texts.append(f"{gpu.temperature_c:.0f} °C")
    if gpu.power_w is not None:
        texts.append(f"{gpu.power_w:.0f} W")
    return texts


def lines(snapshot: MemorySnapshot, gpu: GpuMemory | None, share: Share, speed: float | None) -> list[str]:
    """Everything the strip shows as sentences, for the tooltip and for screen readers."""
    texts = _gpu_lines(gpu, share) if gpu is not None else []
    if not has_memory_data(gpu):
        texts += [_reported_line(card, snapshot) for card in snapshot.reported] or [tr("No GPU memory data.")]
    texts += [*_ram_lines(snapshot.ram, share), *_companion_lines(snapshot)]
    sensors = sensor_texts(gpu)
    if sensors:
        texts.append(", ".join(sensors) + ".")
    if speed:
        texts.append(tr("Last answer: {n} tokens per second.").format(n=f"{speed:.1f}"))
    return texts


def _reported_line(card: ReportedGpu, snapshot: MemorySnapshot) -> str:
    figures = used_of(reported_use(card, snapshot), card.total)
    text = tr("{name}: {figures}, as the engine reports ({backend}).")
    return text.format(name=card.name, figures=figures, backend=card.backend)


def model_took(share: Share) -> str:
    """What llama.cpp reports where the kernel is silent."""
    return tr("The model took {size} on the card, by the engine's own count.").format(size=gib(share.reported))


def _gpu_lines(gpu: GpuMemory, share: Share) -> list[str]:
    shares_ram = gpu.kind is DeviceKind.IGPU
    name = f"{gpu.name}, {tr('asleep')}." if gpu.asleep else f"{gpu.name}."
    texts = [name]
    if not has_memory_data(gpu):
        return texts
    vram = tr("VRAM, set aside from the RAM: {figures}{model}.") if shares_ram else tr("VRAM: {figures}{model}.")
    texts.append(vram.format(figures=used_of(gpu.vram.used, gpu.vram.total), model=_of_model(share.vram)))
    gtt = tr("GTT, part of the RAM: {figures}{model}.")
    texts.append(gtt.format(figures=used_of(gpu.gtt.used, gpu.gtt.total), model=_of_model(share.gtt)))
    if share.reported is not None:
        texts.append(model_took(share))
    if gpu.room is not None:
        texts.append(tr("Room for a model: {size}.").format(size=gib(gpu.room)))
    return texts


def _ram_lines(ram: RamMemory, share: Share) -> list[str]:
    texts = [tr("RAM: {figures}{model}.").format(figures=used_of(ram.used, ram.total), model=_of_model(share.ram))]
    if share.mapped:
        texts.append(tr("Model file in memory, can be dropped: {size}.").format(size=gib(share.mapped)))
    if ram.swap_total and ram.swap_free is not None:
        texts.append(tr("Swap: {figures}.").format(figures=used_of(ram.swap_total - ram.swap_free, ram.swap_total)))
    return texts


def _companion_lines(snapshot: MemorySnapshot) -> list[str]:
    """What was loaded with the model and is part of its share."""
    sizes = {
        tr("Image encoder of the model: {size}."): sum(share.image for share in snapshot.model),
        tr("Draft model: {size}."): sum(share.draft for share in snapshot.model),
    }
    return [text.format(size=gib(size)) for text, size in sizes.items() if size]


def _of_model(size: int | None) -> str:
    return tr(", of it model {size}").format(size=gib(size)) if size else ""
