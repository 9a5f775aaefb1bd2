"""Sentences on load options that suit a device. Pure, apart from translation."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from engine.loading.profile import Suit
from engine.protocol.types import DeviceKind


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("LoadSuit", text)


def suit(change: Suit) -> str:
    """What a profile changed, and why."""
    return {
        Suit.SMALL_STEPS: tr("Prompts are read in small steps, so that the driver does not take the GPU for hung."),
        Suit.NO_MMAP: tr("The file is read instead of mapped: on shared memory it would take its place twice."),
        Suit.KV_8_BIT: tr("The KV cache is kept in 8 bits, because there is little room beside the weights."),
    }[change]


def kind_name(kind: DeviceKind | None) -> str:
    """What a profile is for."""
    return {
        DeviceKind.GPU: tr("a graphics card"),
        DeviceKind.IGPU: tr("integrated graphics"),
        DeviceKind.CPU: tr("the CPU"),
        DeviceKind.SOFTWARE: tr("a software driver"),
        None: tr("this computer"),
    }[kind]


def profile_text(kind: DeviceKind | None, changes: Iterable[Suit]) -> str:
    """What was recommended, and why."""
    sentences = " ".join(suit(change) for change in changes)
    if sentences:
        return tr("Chosen for {device}. {sentences}").format(device=kind_name(kind), sentences=sentences)
    return tr("For {device} the defaults are right.").format(device=kind_name(kind))


def suited_text(changes: Iterable[Suit]) -> str:
    """For the tooltip of a model that was loaded with a profile, unasked."""
    return tr("Load options suited to integrated graphics: {sentences}").format(
        sentences=" ".join(suit(change) for change in changes)
    )
