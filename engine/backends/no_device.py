"""Why a backend that was loaded has no device, and which devices it cannot compute on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.backends.devices import Device
from engine.backends.kinds import NAMES, WITHOUT_DEVICES
from engine.backends.vulkan_probe import PhysicalDevice
from engine.memory.kfd import Topology, gfx_name
from engine.memory.tree import Tree

ROCM, VULKAN = NAMES["hip"], NAMES["vulkan"]
HIDING = {
    ROCM: ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
    VULKAN: ("GGML_VK_VISIBLE_DEVICES",),
    NAMES["cuda"]: ("CUDA_VISIBLE_DEVICES",),
}
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
KFD = Path("dev/kfd")


def why_none(
    backend: str, environ: Mapping[str, str], root: Path, physical: Sequence[PhysicalDevice] | None
) -> str | None:
    """The sentence for a backend without a device; None where that is nothing to tell.

    Args:
        root: Below it ``sys`` and ``dev`` lie.
        physical: Vulkan's own list; None: Vulkan was not asked.
    """
    if backend in WITHOUT_DEVICES:
        return None
    return f"No device: {_cause(backend, environ, root, physical)}"


def _cause(backend: str, environ: Mapping[str, str], root: Path, physical: Sequence[PhysicalDevice] | None) -> str:
    cause = _rocm(root) if backend == ROCM else _vulkan(physical) if backend == VULKAN else None
    hiding = next((name for name in HIDING.get(backend, ()) if name in environ), None)
    if cause is None and hiding is not None:
        return f"the variable {hiding} ({environ[hiding]!r}) may hide it."
    return cause or "it found nothing on this computer that it can use."


def _rocm(root: Path) -> str | None:
    """What ROCm needs of the kernel, in the order in which it is missed."""
    kfd = root / KFD
    if not kfd.exists():
        return "/dev/kfd is not there. ROCm needs a Radeon card and the amdgpu driver with its compute part."
    if not os.access(kfd, os.R_OK | os.W_OK):
        return "/dev/kfd may not be opened. Add yourself to the group that owns it (render), then log in again."
    if not Topology(Tree(root)).nodes():
        return "the kernel lists no Radeon card that can compute (/sys/class/kfd)."
    return None


def _vulkan(physical: Sequence[PhysicalDevice] | None) -> str | None:
    if physical is None:
        return None
    if not physical:
        return "no Vulkan driver was found."
    if all(device.is_software for device in physical):
        return f"the only Vulkan driver is a software one ({physical[0].name.split(' ')[0]}), which is not used."
    return None


def without_code(
    devices: Sequence[Device], built_for: Sequence[str], root: Path, environ: Mapping[str, str]
) -> list[Device]:
    """``devices`` with those of ROCm refused whose gfx target the plugin has no code for: it would end the engine.

    Args:
        built_for: Targets of the plugin; empty: not known, nothing is refused.
    """
    if not built_for or not any(device.info.backend == ROCM for device in devices):
        return list(devices)
    nodes = Topology(Tree(root)).nodes()
    forced = _forced(environ.get(OVERRIDE, ""))
    known = {pci: node.gfx for pci, node in nodes.items()}
    return [_refused(device, built_for, forced or known.get(device.info.pci or "")) for device in devices]


def _refused(device: Device, built_for: Sequence[str], gfx: str | None) -> Device:
    if device.info.backend != ROCM or gfx is None or not device.info.usable or _covers(built_for, gfx):
        return device
    reason = f"The ROCm plugin has code for {', '.join(built_for)}; this card is {gfx}. Build it for that too."
    return replace(device, info=msgspec.structs.replace(device.info, usable=False, reason=reason))


def _covers(built_for: Sequence[str], gfx: str) -> bool:
    """Whether code for one of the targets runs on ``gfx``. Generic targets (``gfx11-generic``) cover a family."""
    return any(gfx == name.split(":")[0] or _is_generic(name, gfx) for name in built_for)


def _is_generic(name: str, gfx: str) -> bool:
    family = name.removesuffix("-generic").replace("-", "")
    return name.endswith("-generic") and gfx.startswith(family)


def _forced(text: str) -> str | None:
    parts = text.strip().split(".")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) <= 2 for part in parts):
        return None
    major, minor, step = map(int, parts)
    return gfx_name(major * 10_000 + minor * 100 + step)
