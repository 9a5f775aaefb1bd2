"""Which driver a device goes through, as a text that changes with it: its files, as this process has mapped them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

MAPS: Final = Path("/proc/self/maps")

_FILES: Final = {
    "Vulkan": re.compile(r"/[^\s]*/(?:libvulkan_|amdvlk|libGLX_nvidia)[^\s/]*"),
    "ROCm": re.compile(r"/[^\s]*/(?:libamdhip|libhsa-runtime)[^\s/]*"),
}
"""Files that are there as soon as a backend has devices; what it loads later would make another text."""


def read_maps(maps: Path = MAPS) -> str:
    """The kernel's list of what this process has mapped; empty where that cannot be read."""
    try:
        return maps.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def driver_of(backend: str, maps: str) -> str:
    """``libvulkan_radeon.so of 2026-11-02``; empty for backends without a driver, or where it is not known.

    Args:
        maps: From `read_maps`.
    """
    pattern = _FILES.get(backend)
    found = sorted(set(pattern.findall(maps))) if pattern is not None else []
    return ", ".join(text for path in found if (text := _dated(Path(path))))


def _dated(path: Path) -> str:
    try:
        changed = path.stat().st_mtime
    except OSError:
        return ""
    return f"{path.name} of {datetime.fromtimestamp(changed, UTC).date().isoformat()}"
