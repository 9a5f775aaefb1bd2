"""Names of cards from the pair of PCI device id and revision: the device id alone mixes up XTX, XT and GRE."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import msgspec

from engine.protocol.types import DeviceKind

log = logging.getLogger(__name__)

TABLE = Path(__file__).resolve().parents[2] / "assets" / "gpu_names.txt"


class Product(msgspec.Struct, frozen=True):
    """What is known of a device id. ``revisions`` names the cards that share it."""

    name: str
    kind: DeviceKind
    gfx: str
    revisions: dict[int, str]

    def named(self, revision: int | None) -> str:
        """The name of one revision, else that of the family."""
        return self.name if revision is None else self.revisions.get(revision, self.name)


def parse(lines: Iterable[str]) -> dict[int, Product]:
    """Device id to product, from the format explained in the table's head. Raises ValueError on a bad line."""
    products: dict[int, Product] = {}
    revisions: dict[int, str] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            numbers, name = line.split(None, 1)
            revisions.update((int(number, 16), name.strip()) for number in numbers.split(","))
        else:
            device, kind, gfx, name = line.split(None, 3)
            revisions = {}
            products[int(device, 16)] = Product(name.strip(), DeviceKind(kind), gfx, revisions)
    return products


def load(path: Path = TABLE) -> dict[int, Product]:
    """The table that comes with the program; an installation without it has no names, but all figures."""
    try:
        with path.open(encoding="utf-8") as lines:
            return parse(lines)
    except OSError as error:
        log.warning("The table of card names cannot be read: %s", error)
        return {}


def fallback_name(device: int | None) -> str:
    """What to call a card that the table does not know."""
    return "AMD GPU" if device is None else f"AMD GPU 1002:{device:04X}"
