"""The devices of ggml joined to the cards of the kernel by PCI address: one name and kind, through each backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.backends.devices import Device
from engine.memory.cards import Card, CardFinder
from engine.memory.kfd import KfdNode, Topology
from engine.memory.tree import Tree
from engine.protocol.types import DeviceKind

_HARDWARE = (DeviceKind.GPU, DeviceKind.IGPU)


def join_cards(devices: Sequence[Device], root: Path) -> list[Device]:
    """``devices`` with the names and kinds of the cards that the kernel lists below ``root``.

    Drivers name a card by the processor it is in, by a family, or with their own name behind it. The table knows
    the product by device id and revision; a card that it does not know keeps the driver's name.
    """
    if not any(device.info.pci and device.info.kind in _HARDWARE for device in devices):
        return list(devices)
    tree = Tree(root)
    cards = {card.pci: card for card in CardFinder(tree).cards()}
    nodes = Topology(tree).nodes()
    return [_joined(device, cards, nodes) for device in devices]


def _joined(device: Device, cards: Mapping[str, Card], nodes: Mapping[str, KfdNode]) -> Device:
    info = device.info
    card = cards.get(info.pci or "")
    if card is None or info.kind not in _HARDWARE:
        return device
    node = nodes.get(card.pci)
    name, kind = (card.name, card.product.kind) if card.product else (info.name, info.kind)
    if node is not None and node.with_cpu:
        kind = DeviceKind.IGPU
    return replace(device, info=msgspec.structs.replace(info, name=name, kind=kind))
