"""How fast the memory of each device is: by the kernel's clock and width, else by the table, else measured.

The kernel's topology (KFD) gives the largest memory clock in MHz and the width of the bus in bits. Bytes a second are
clock x width / 8 times the transfers in a clock: 16 for GDDR6, 2 for HBM2. On integrated graphics the product of the
two already is MB/s; Van Gogh reports 0. Source: ``Documentation/gpu/amdgpu/thermal.rst`` of Linux.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.memory import values
from engine.memory.fit.bandwidth import bandwidth_of
from engine.memory.kfd import NODES, KfdNode, node
from engine.memory.tree import Tree
from engine.protocol.types import DeviceInfo, DeviceKind

BY_KERNEL: Final = "memory clock and bus width, from the kernel"
BY_TABLE: Final = "the vendor's figure"
BY_MEASURING: Final = "measured by reading and copying"

_GDDR6: Final = ("gfx10", "gfx11", "gfx12")
_HBM2: Final = ("gfx900", "gfx906", "gfx908", "gfx90a")
_PLAUSIBLE: Final = (10e9, 10e12)


class Bandwidth(msgspec.Struct, frozen=True):
    """Bytes a second, and where the figure comes from."""

    speed: float
    source: str


def bandwidths(devices: Sequence[DeviceInfo], tree: Tree, ram: float | None) -> dict[str, Bandwidth]:
    """What is known, by ggml's id of the device.

    Args:
        ram: Measured for this computer's RAM; serves the processor, and drivers that compute on it.
    """
    by_kernel = kernel_bandwidths(tree)
    found = {}
    for device in devices:
        if device.kind in (DeviceKind.CPU, DeviceKind.SOFTWARE):
            if ram is not None:
                found[device.id] = Bandwidth(ram, BY_MEASURING)
            continue
        speed = by_kernel.get(device.pci or "")
        by_name = bandwidth_of(device.name)
        if speed is not None:
            found[device.id] = Bandwidth(speed, BY_KERNEL)
        elif by_name is not None:
            found[device.id] = Bandwidth(by_name, BY_TABLE)
    return found


def kernel_bandwidths(tree: Tree) -> dict[str, float]:
    """Bytes a second by PCI address, of cards whose clock, width and kind of memory are known."""
    found = {}
    for number in tree.names(NODES):
        entry = node(values.word_numbers(tree.text(f"{NODES}/{number}/properties")))
        if entry is None:
            continue
        pci, facts = entry
        bank = values.word_numbers(tree.passing(f"{NODES}/{number}/mem_banks/0/properties"))
        speed = _speed(facts, bank.get("width", 0), bank.get("mem_clk_max", 0))
        if speed is not None:
            found[pci] = speed
    return found


def _speed(facts: KfdNode, width: int, clock: int) -> float | None:
    gfx = facts.gfx or ""
    if facts.with_cpu:
        speed = width * clock * 1e6
    elif gfx.startswith(_GDDR6):
        speed = width / 8 * clock * 1e6 * 16
    elif gfx in _HBM2:
        speed = width / 8 * clock * 1e6 * 2
    else:
        return None
    return speed if _PLAUSIBLE[0] <= speed <= _PLAUSIBLE[1] else None
