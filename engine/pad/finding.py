"""Which input devices are gamepads, from sysfs alone: ``class/input/event*/device``."""

from __future__ import annotations

import re

import msgspec

from engine.memory.tree import Tree

INPUT = "sys/class/input"
EVENT = re.compile(r"event\d+")
BTN_SOUTH = 0x130
"""linux/input-event-codes.h: every gamepad has this button (Documentation/input/gamepad.rst)."""

STEAMS = ("28de", "11ff")
"""Vendor and product of the pad that Steam shows to programs."""


class PadDevice(msgspec.Struct, frozen=True):
    """A gamepad: the file below ``dev/input``, and whether it is Steam's virtual one."""

    event: str
    of_steam: bool = False


def find_pads(tree: Tree) -> tuple[PadDevice, ...]:
    """All gamepads; only Steam's where there is one, because each press of the others arrives through it too."""
    names = sorted(name for name in tree.names(INPUT) if EVENT.fullmatch(name))
    pads = tuple(pad for name in names if (pad := _pad(tree, name)) is not None)
    of_steam = tuple(pad for pad in pads if pad.of_steam)
    return of_steam or pads


def has_bit(words: str, bit: int) -> bool:
    """Whether ``bit`` is set in a bitmap as sysfs prints it: hexadecimal words of 64 bits, the highest one first."""
    parts = words.split()
    place = len(parts) - 1 - bit // 64
    if place < 0:
        return False
    try:
        return bool(int(parts[place], 16) >> (bit % 64) & 1)
    except ValueError:
        return False


def _pad(tree: Tree, name: str) -> PadDevice | None:
    folder = f"{INPUT}/{name}/device"
    if not has_bit(tree.text(f"{folder}/capabilities/key") or "", BTN_SOUTH):
        return None
    numbers = tuple((tree.text(f"{folder}/id/{one}") or "").strip() for one in ("vendor", "product"))
    return PadDevice(name, numbers == STEAMS)
