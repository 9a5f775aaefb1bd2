"""What the kernel says in ``/proc/<pid>/fdinfo/<fd>`` about the GPU memory behind an open DRM device.

Three generations of keys: ``vram mem`` (Linux 5.14 to 5.18), ``drm-memory-vram`` (5.19 on) and
``drm-resident-vram`` (6.13 on, beside the second with the same meaning). They are never added up.
"""

from __future__ import annotations

import re

import msgspec

from engine.memory import values

_ENGINES = b"drm-engine"
_TELLING = (b"vram", b"gtt", b"pdev", b"client-id", b"pasid")

_KEYS = "(?:drm-)?pdev|drm-client-id|pasid|drm-(?:resident|memory)-(?:vram|gtt)|(?:vram|gtt) mem|amd-evicted-vram"
_ROWS = re.compile(rf"^({_KEYS})[ \t]*:[ \t]*([^\n]*?)[ \t\r]*$", re.MULTILINE)
"""The rows that count, of about forty; the first of each key is the one that is taken."""


class DrmUse(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one DRM client. Files that were duplicated or inherited repeat the same ``client``."""

    pci: str
    client: str
    vram: int | None = None
    gtt: int | None = None
    evicted: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Identity of the client: ids are counted for each device."""
        return self.pci, self.client


def parse(text: str | None) -> DrmUse | None:
    """The client behind one file; None when it is no DRM file or names no PCI device."""
    pairs = dict(reversed(_ROWS.findall(text or "")))
    pci = values.pci_address(pairs.get("drm-pdev") or pairs.get("pdev"))
    client = pairs.get("drm-client-id")
    if client is None and "pasid" in pairs:
        client = "pasid " + pairs["pasid"]
    if pci is None or not client:
        return None
    return DrmUse(
        pci=pci,
        client=client,
        vram=_first_size(pairs, "drm-resident-vram", "drm-memory-vram", "vram mem"),
        gtt=_first_size(pairs, "drm-resident-gtt", "drm-memory-gtt", "gtt mem"),
        evicted=_first_size(pairs, "amd-evicted-vram"),
    )


def memory_part(data: bytes) -> bytes:
    """The lines that can tell of memory: what the engines did, which changes all the time, comes behind them."""
    cut = data.find(_ENGINES)
    return data if cut < 0 or any(data.find(word, cut) >= 0 for word in _TELLING) else data[:cut]


def _first_size(pairs: dict[str, str], *keys: str) -> int | None:
    for key in keys:
        found = values.size(pairs[key]) if key in pairs else None
        if found is not None:
            return found
    return None
