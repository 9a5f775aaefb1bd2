"""The compute topology (KFD): which gfx target a card is, and whether it is one with the processor."""

from __future__ import annotations

import msgspec

from engine.memory import values
from engine.memory.tree import Tree

NODES = "sys/class/kfd/kfd/topology/nodes"
GENERATION = "sys/class/kfd/kfd/topology/generation_id"


class KfdNode(msgspec.Struct, frozen=True):
    """One node with compute units. ``with_cpu``: the same node also has CPU cores."""

    gfx: str | None
    with_cpu: bool


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
    return pci, KfdNode(gfx_name(properties.get("gfx_target_version", 0)), with_cpu)


class Topology:
    """The nodes by PCI address, read again only when the kernel says that they changed."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._generation: int | None = None
        self._nodes: dict[str, KfdNode] | None = None

    def nodes(self) -> dict[str, KfdNode]:
        """PCI address to node; empty without KFD."""
        generation = values.whole(self._tree.text(GENERATION))
        if self._nodes is None or generation is None or generation != self._generation:
            self._nodes = self._read()
            self._generation = generation
        return self._nodes

    def _read(self) -> dict[str, KfdNode]:
        found = {}
        for number in self._tree.names(NODES):
            entry = node(values.word_numbers(self._tree.text(f"{NODES}/{number}/properties")))
            if entry is not None:
                found[entry[0]] = entry[1]
        return found
