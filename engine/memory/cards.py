"""Which AMD cards there are. They are found by listing, and known by their PCI address: numbers change."""

from __future__ import annotations

import re

import msgspec

from engine.memory import names, values
from engine.memory.kfd import KfdNode
from engine.memory.records import Pool
from engine.memory.sizes import GIB
from engine.memory.tree import Tree
from engine.protocol.types import DeviceKind

DRM = "sys/class/drm"
AMD = 0x1002
_CARD = re.compile(r"card[0-9]+")


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What stays the same while a card is there. ``path`` is its device folder below the root."""

    pci: str
    path: str
    device: int | None
    name: str
    product: names.Product | None

    @property
    def gfx(self) -> str | None:
        """The gfx target by the table."""
        return self.product.gfx if self.product else None


class CardFinder:
    """Lists the cards. What does not change is read once for each card, and again when it comes back.

    The table of names is read with the first card.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._products: dict[int, names.Product] | None = None
        self._known: dict[tuple[str, str], Card | None] = {}

    def cards(self) -> list[Card]:
        """AMD cards by PCI address; those of other vendors are left out."""
        seen = {}
        for name in self._tree.names(DRM):
            if _CARD.fullmatch(name):
                path = f"{DRM}/{name}/device"
                pci = self._address(path)
                if pci is not None:
                    seen[name, pci] = path
        self._known = {
            key: self._known[key] if key in self._known else self._identify(key[1], path) for key, path in seen.items()
        }
        return sorted((card for card in self._known.values() if card is not None), key=lambda card: card.pci)

    def _address(self, path: str) -> str | None:
        target = self._tree.link(path)
        pci = values.pci_address(target.rpartition("/")[2]) if target else None
        return pci or values.pci_address(self._uevent(path).get("PCI_SLOT_NAME"))

    def _uevent(self, path: str) -> dict[str, str]:
        return values.equal_pairs(self._tree.text(f"{path}/uevent"))

    def _identify(self, pci: str, path: str) -> Card | None:
        uevent = self._uevent(path)
        driver = self._tree.link(f"{path}/driver") or uevent.get("DRIVER") or ""
        vendor = values.hex_id(self._tree.text(f"{path}/vendor"))
        if driver.rpartition("/")[2] != "amdgpu" and vendor != AMD:
            return None
        device = values.hex_id(self._tree.text(f"{path}/device"))
        if device is None:
            device = values.hex_id(uevent.get("PCI_ID", "").rpartition(":")[2])
        if self._products is None:
            self._products = names.load()
        product = self._products.get(device) if device is not None else None
        revision = values.hex_id(self._tree.text(f"{path}/revision"))
        name = product.named(revision) if product else names.fallback_name(device)
        return Card(pci=pci, path=path, device=device, name=name, product=product)


def kind_of(card: Card, node: KfdNode | None, vram: Pool, gtt: Pool, tree: Tree) -> DeviceKind | None:
    """Whether the card shares the system's memory; None when nothing tells.

    The table knows the sold chips, also an APU with a 96 GiB carve-out. For others: a compute node with CPU
    cores, or the signs of a carve-out (no memory vendor, no board, little VRAM beside much GTT).
    """
    if node is not None and node.with_cpu:
        return DeviceKind.IGPU
    if card.product is not None:
        return card.product.kind
    if vram.total is None or gtt.total is None:
        return None
    nameless = not any(tree.exists(f"{card.path}/{name}") for name in ("mem_info_vram_vendor", "board_info"))
    small = vram.total <= 4 * GIB and gtt.total >= 8 * GIB and gtt.total >= 4 * vram.total
    return DeviceKind.IGPU if nameless and small else DeviceKind.GPU
