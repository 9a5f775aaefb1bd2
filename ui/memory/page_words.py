"""Texts of the memory page, from records. Pure, apart from translation."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from engine.memory.records import GpuMemory, MemorySnapshot, ModelShare, RamMemory
from engine.protocol.types import DeviceKind
from ui.memory.owners import Part, PartOwner, place_of
from ui.memory.shares import Region
from ui.memory.words import gib, number, short_name

DOT = "  ·  "

OWNERS: dict[PartOwner, Any] = {
    PartOwner.WEIGHTS: QT_TRANSLATE_NOOP("MemoryPage", "weights"),
    PartOwner.KV: QT_TRANSLATE_NOOP("MemoryPage", "KV cache"),
    PartOwner.COMPUTE: QT_TRANSLATE_NOOP("MemoryPage", "compute buffers"),
    PartOwner.IMAGE: QT_TRANSLATE_NOOP("MemoryPage", "image encoder"),
    PartOwner.DRAFT: QT_TRANSLATE_NOOP("MemoryPage", "draft model"),
    PartOwner.MODEL: QT_TRANSLATE_NOOP("MemoryPage", "model"),
    PartOwner.SPILLED: QT_TRANSLATE_NOOP("MemoryPage", "pushed out of VRAM"),
    PartOwner.ENGINE: QT_TRANSLATE_NOOP("MemoryPage", "engine"),
    PartOwner.REST: QT_TRANSLATE_NOOP("MemoryPage", "not told apart"),
    PartOwner.SYSTEM: QT_TRANSLATE_NOOP("MemoryPage", "system, shared"),
    PartOwner.ZRAM: QT_TRANSLATE_NOOP("MemoryPage", "compressed swap"),
    PartOwner.FILE: QT_TRANSLATE_NOOP("MemoryPage", "model file"),
    PartOwner.FREE: QT_TRANSLATE_NOOP("MemoryPage", "free"),
}
"""Asked for many times a second, so it is not made anew each time."""


def tr(text: str) -> str:
    """Translate a text of the memory page."""
    return QCoreApplication.translate("MemoryPage", text)


def owner_name(part: Part) -> str:
    """Whose a part is, in a few words."""
    if part.owner is PartOwner.PROGRAM:
        return part.name
    if part.owner is PartOwner.OURS:
        return tr("Vramble") if part.name.lower() == "vramble" else tr("Vramble ({name})").format(name=part.name)
    if part.owner is PartOwner.PROGRAMS:
        return _more(part)
    if part.owner is PartOwner.REST and part.region is Region.RAM:
        return tr("programs and system")
    return tr(OWNERS[part.owner])


def _more(part: Part) -> str:
    return tr("1 more program") if part.name == "1" else tr("{n} more programs").format(n=part.name)


def owner_sentence(part: Part) -> str:
    """What a part is, for those who point at it."""
    return {
        PartOwner.WEIGHTS: tr("Weights of the loaded model, by the engine's figures"),
        PartOwner.KV: tr("KV cache of the loaded model, by the engine's figures"),
        PartOwner.COMPUTE: tr("Compute buffers and logits of the loaded model, by the engine's figures"),
        PartOwner.IMAGE: tr("Image encoder of the loaded model with its buffer, by the engine's figures"),
        PartOwner.DRAFT: tr("Draft model that guesses the next tokens, by the engine's figures"),
        PartOwner.MODEL: tr("The loaded model, which lies in more than one kind of memory"),
        PartOwner.SPILLED: tr("The driver moved this part of the model out of VRAM, which makes it slow"),
        PartOwner.ENGINE: tr("Vramble's engine, beside what it tells of the model: driver, libraries, buffers"),
        PartOwner.OURS: tr("{name}, a program of Vramble").format(name=part.name),
        PartOwner.PROGRAM: _program(part),
        PartOwner.PROGRAMS: _more(part),
        PartOwner.REST: _rest(part),
        PartOwner.SYSTEM: tr("The system, memory that programs share, and programs that cannot be seen"),
        PartOwner.ZRAM: tr("Swap that is kept compressed in RAM"),
        PartOwner.FILE: tr("Pages of the model's file: they count as available, the system can drop them"),
        PartOwner.FREE: tr("Available without swapping") if part.region is Region.RAM else tr("Free"),
    }[part.owner]


def region_name(region: Region, *, shared: bool = False) -> str:
    """``VRAM``, on an APU with what that means."""
    if region is Region.VRAM and shared:
        return tr("VRAM, set aside")
    return {Region.VRAM: tr("VRAM"), Region.GTT: tr("GTT"), Region.RAM: tr("RAM")}[region]


def memory_name(region: Region, card: str, cards: dict[str, str]) -> str:
    """``GTT``, with several cards ``GTT of RX 7800 XT``."""
    name = region_name(region)
    return tr("{memory} of {card}").format(memory=name, card=cards[card]) if card in cards else name


def part_line(part: Part, total: int, cards: dict[str, str]) -> str:
    """``VRAM: Weights of the loaded model, by the engine's figures. 4.2 GiB, 17.5 % of 24.0 GiB.``"""
    where = memory_name(part.region, part.card, cards)
    share = f"{100 * part.size / total:.1f}" if total else "0.0"
    text = tr("{where}: {what}. {size}, {share} % of {total}.")
    return text.format(where=where, what=owner_sentence(part), size=gib(part.size), share=share, total=gib(total))


def figures(used: int | None, total: int | None) -> str:
    """``9.6 of 24.0 GiB in use``, and what is not known."""
    if total is None:
        return tr("size unknown") if used is None else tr("{size} in use").format(size=gib(used))
    if used is None:
        return tr("{size}, use unknown").format(size=gib(total))
    return tr("{used} of {total} GiB in use").format(used=number(used), total=number(total))


def sensors(gpu: GpuMemory) -> list[str]:
    """Busy, temperature, power, clock: as far as they are known."""
    texts = []
    if gpu.busy_percent is not None:
        texts.append(tr("{n} % busy").format(n=gpu.busy_percent))
    if gpu.temperature_c is not None:
        texts.append(_temperature(gpu))
    if gpu.power_w is not None:
        texts.append(_power(gpu.power_w, gpu.power_cap_w))
    if gpu.core_mhz is not None:
        texts.append(f"{gpu.core_mhz} MHz")
    return texts


def host_facts(ram: RamMemory, snapshot: MemorySnapshot) -> list[str]:
    """Swap, pressure and battery."""
    texts = []
    if ram.swap_total:
        texts.append(
            tr("swap {used} of {total} GiB").format(used=number(ram.swap_used), total=number(ram.swap_total))
            if ram.swap_used is not None
            else tr("swap {total} GiB, use unknown").format(total=number(ram.swap_total))
        )
    if ram.stall is not None and ram.stall.some is not None and ram.stall.some >= 1:
        texts.append(tr("waiting for memory {n} % of the time").format(n=f"{ram.stall.some:.0f}"))
    battery = snapshot.battery
    if battery is not None and battery.percent is not None:
        flow = f", {battery.watts:.0f} W" if battery.watts is not None and battery.discharging else ""
        texts.append(tr("battery {n} %").format(n=battery.percent) + flow)
    return texts


def card_notes(gpu: GpuMemory, snapshot: MemorySnapshot) -> list[str]:
    """What the bar alone does not say."""
    texts = []
    if gpu.room is not None and not gpu.asleep:
        texts.append(tr("Room for a model: {size}.").format(size=gib(gpu.room)))
    visible, vram = gpu.visible_vram.total, gpu.vram.total
    if gpu.kind is DeviceKind.GPU and visible is not None and vram is not None and visible < vram:
        texts.append(
            tr("The processor reaches {size} of the VRAM directly (no resizable BAR).").format(size=gib(visible))
        )
    share = snapshot.model_on(gpu.pci)
    if share is not None and place_of(share, gpu, snapshot.worker) is None:
        texts.append(tr("By the engine, the model here has {parts} GiB.").format(parts=", ".join(_parts_of(share))))
    return texts


def _parts_of(share: ModelShare) -> list[str]:
    sizes = {
        PartOwner.WEIGHTS: share.weights,
        PartOwner.KV: share.kv,
        PartOwner.COMPUTE: share.compute + share.output,
        PartOwner.IMAGE: share.image,
        PartOwner.DRAFT: share.draft,
    }
    return [f"{tr(OWNERS[owner])} {number(size)}" for owner, size in sizes.items() if size]


def sandbox_note(snapshot: MemorySnapshot) -> tuple[str, ...]:
    """What cannot be seen."""
    text = tr("Inside of a Flatpak other programs cannot be seen: they are not told apart.")
    return (text,) if snapshot.sandboxed else ()


def card_title(gpu: GpuMemory, count: int) -> str:
    """The card's name, and which one of two equal cards."""
    return gpu.name if count < 2 else f"{gpu.name} ({gpu.pci.removeprefix('0000:')})"


def card_names(snapshot: MemorySnapshot) -> dict[str, str]:
    """Short names of the cards by their address, equal ones with it; empty when there is only one card."""
    if len(snapshot.gpus) < 2:
        return {}
    names = [gpu.name for gpu in snapshot.gpus]
    return {gpu.pci: short_name(card_title(gpu, names.count(gpu.name))) for gpu in snapshot.gpus}


def _temperature(gpu: GpuMemory) -> str:
    text = f"{gpu.temperature_c:.0f} °C"
    return (
        tr("{edge}, hottest {junction} °C").format(edge=text, junction=f"{gpu.junction_c:.0f}")
        if gpu.junction_c
        else text
    )


def _power(watts: float, cap: float | None) -> str:
    return tr("{watts} of {cap} W").format(watts=f"{watts:.0f}", cap=f"{cap:.0f}") if cap else f"{watts:.0f} W"


def _program(part: Part) -> str:
    if part.region is Region.RAM:
        return tr("{name}, another program: memory that it has for itself").format(name=part.name)
    return tr("{name}, another program").format(name=part.name)


def _rest(part: Part) -> str:
    if part.region is Region.RAM:
        return tr("Other programs and the system")
    return tr("In use by the system, by programs of other users, or by some that cannot be seen")
