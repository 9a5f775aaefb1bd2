"""The compute side of the driver (KFD): what a card is, how fast its memory is, and who computes on it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from engine.memory import values
from engine.memory.tree import Tree

NODES = "sys/class/kfd/kfd/topology/nodes"
GENERATION = "sys/class/kfd/kfd/topology/generation_id"
PROCESSES = "sys/class/kfd/kfd/proc"
_VRAM = re.compile(r"vram_([0-9]{1,10})")


class KfdNode(msgspec.Struct, frozen=True):
    """One node with compute units.

    Attributes:
        gfx: Such as ``gfx1100``.
        with_cpu: The same node also has CPU cores.
        gpu_id: The kernel's number for it, which names files of processes.
        compute_units: None when not told.
        bank: Width in bits and highest clock in MHz of its memory; None when not told (Van Gogh says 0).
    """

    gfx: str | None
    with_cpu: bool
    gpu_id: int | None = None
    compute_units: int | None = None
    bank: tuple[int, int] | None = None


def gfx_name(version: int) -> str | None:
    """``gfx1100`` from ``gfx_target_version`` 110000; None for the 0 of a processor, or garbage."""
    major, minor, step = version // 10_000, version // 100 % 100, version % 100
    if not 7 <= major <= 99 or minor > 9 or step > 15:
        return None
    return f"gfx{major}{minor}{step:x}"


def node(properties: dict[str, int]) -> tuple[str, KfdNode] | None:
    """PCI address and node; None for a node without compute units or without a place on the bus."""
    if not properties.get("simd_count") or "location_id" not in properties:
        return None
    location, domain = properties["location_id"], properties.get("domain", 0)
    pci = f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"
    with_cpu = properties.get("cpu_cores_count", 0) > 0
    units = properties["simd_count"] // (properties.get("simd_per_cu") or 1)
    plausible = bool(properties.get("simd_per_cu")) and 0 < units <= 1024
    gfx = gfx_name(properties.get("gfx_target_version", 0))
    return pci, KfdNode(gfx, with_cpu, compute_units=units if plausible else None)


def bank(properties: dict[str, int]) -> tuple[int, int] | None:
    """Width and clock of a memory bank; None where either is 0 or cannot be."""
    width, clock = properties.get("width", 0), properties.get("mem_clk_max", 0)
    return (width, clock) if 0 < width <= 16_384 and 0 < clock <= 20_000 else None


class Topology:
    """The nodes by PCI address, read again only when the kernel says that they changed."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._generation: int | None = None
        self._nodes: dict[str, KfdNode] | None = None

    def nodes(self) -> dict[str, KfdNode]:
        """PCI address to node; empty without KFD."""
        generation = values.whole(self._tree.live(GENERATION))
        if self._nodes is None or generation is None or generation != self._generation:
            self._nodes = self._read()
            self._generation = generation
        return self._nodes

    def _read(self) -> dict[str, KfdNode]:
        found = {}
        for number in self._tree.names(NODES):
            folder = f"{NODES}/{number}"
            entry = node(values.word_numbers(self._tree.text(f"{folder}/properties")))
            if entry is None:
                continue
            banks = (f"{folder}/mem_banks/{place}/properties" for place in self._tree.names(f"{folder}/mem_banks"))
            told = (bank(values.word_numbers(self._tree.text(path))) for path in banks)
            found[entry[0]] = msgspec.structs.replace(
                entry[1],
                gpu_id=values.whole(self._tree.passing(f"{folder}/gpu_id")),
                bank=next((one for one in told if one is not None), None),
            )
        return found


class KfdProcesses:
    """What each compute process (ROCm, HIP) took, by the KFD's own count, of any user."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._files: dict[int, dict[int, str]] = {}

    def vram(self, nodes: Mapping[str, KfdNode]) -> dict[int, dict[str, int]]:
        """Process id to PCI address to bytes that were asked for as VRAM; on an APU they may lie in GTT."""
        addresses = {node.gpu_id: pci for pci, node in nodes.items() if node.gpu_id}
        present = {int(name) for name in self._tree.names(PROCESSES) if name.isdecimal()} if addresses else set()
        self._files = {pid: self._files.get(pid) or self._find(pid) for pid in present}
        found: dict[int, dict[str, int]] = {}
        for pid, files in self._files.items():
            for gpu_id, path in files.items():
                size = values.byte_count((self._tree.live_bytes(path) or b"").decode("ascii", "replace"))
                if size and gpu_id in addresses:
                    found.setdefault(pid, {})[addresses[gpu_id]] = size
        return found

    def _find(self, pid: int) -> dict[int, str]:
        folder = f"{PROCESSES}/{pid}"
        matches = (_VRAM.fullmatch(name) for name in self._tree.names(folder))
        return {int(match[1]): f"{folder}/{match[0]}" for match in matches if match}
