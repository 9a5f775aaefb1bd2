"""Which graphics processors a HIP plugin is built for: gfx names, given or read from the kernel.

The kernel's compute topology (`/sys/class/kfd/kfd/topology/nodes/N/properties`) has a line
`gfx_target_version 110000` for each GPU: major x 10000 + minor x 100 + step, the step in hexadecimal in the name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from vramble_setup.report import SetupError

NODES = "sys/class/kfd/kfd/topology/nodes"
NAME = re.compile(r"gfx(\d{1,2}[0-9a-f]{2}(:(xnack|sramecc)[+-]){0,2}|\d{1,2}(-\d)?-generic)")
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def parse(text: str) -> tuple[str, ...]:
    """The names in a list such as `gfx1100,gfx1030`: each once, in this order."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in re.split(r"[,;\s]+", text) if name.strip()))
    wrong = [name for name in names if not NAME.fullmatch(name)]
    if wrong or not names:
        raise SetupError(
            f"--gfx takes names such as gfx1100 or gfx1030,gfx1100; {wrong[0] if wrong else 'nothing'} is none.",
            "`rocminfo` and Vramble's memory view name the card's.",
        )
    return names


def gfx_name(version: int) -> str | None:
    """`gfx1100` from 110000; None for the 0 of a processor and for nonsense."""
    major, minor, step = version // 10_000, version // 100 % 100, version % 100
    if not 7 <= major <= 99 or minor > 9 or step > 15:
        return None
    return f"gfx{major}{minor}{step:x}"


def of_machine(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The GPUs of this machine below `VRAMBLE_SYSROOT`, or the one that the user has ROCm see instead.

    Raises SetupError when there is none.
    """
    if forced := environ.get(OVERRIDE):
        return (_forced(forced),)
    root = Path(environ.get("VRAMBLE_SYSROOT") or "/")
    found = []
    for properties in sorted((root / NODES).glob("[0-9]*/properties"), key=_number):
        name = _gfx_in(properties)
        if name:
            found.append(name)
    if not found:
        raise SetupError(
            "The kernel shows no AMD GPU to compute with (/sys/class/kfd), so it is not known what to build for.",
            "Name it: --gfx gfx1100 (RX 7900), gfx1030 (RX 6800 and 6900), gfx1201 (RX 9070), gfx1151 (Strix Halo).",
        )
    return tuple(dict.fromkeys(found))


def _number(properties: Path) -> int:
    name = properties.parent.name
    return int(name) if name.isdecimal() else 0


def _gfx_in(properties: Path) -> str | None:
    try:
        text = properties.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = dict(re.findall(r"^(\w+) (\d{1,20})$", text, re.MULTILINE))
    if fields.get("simd_count", "0") == "0":
        return None
    return gfx_name(int(fields.get("gfx_target_version", "0")))


def _forced(text: str) -> str:
    parts = re.fullmatch(r"(\d{1,2})\.(\d)\.(\d{1,2})", text.strip())
    name = gfx_name(int(parts[1]) * 10_000 + int(parts[2]) * 100 + int(parts[3])) if parts else None
    if name is None:
        raise SetupError(
            f"{OVERRIDE} is {text!r}, which is no version such as 11.0.0.",
            "Set it right, unset it, or name what to build for with --gfx.",
        )
    return name
