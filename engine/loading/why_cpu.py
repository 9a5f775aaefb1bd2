"""Why a model runs on the CPU, as a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind


def why_cpu(devices: Sequence[DeviceInfo], backends: Sequence[BackendInfo]) -> str:
    """The sentence for a model that runs on the CPU although nobody asked for that."""
    return f"Runs on the CPU: {_cause(devices, backends).rstrip('.')}."


def _cause(devices: Sequence[DeviceInfo], backends: Sequence[BackendInfo]) -> str:
    vulkan = next((backend for backend in backends if backend.name == "Vulkan"), None)
    if vulkan is None:
        return "Vulkan is not part of this installation"
    if not vulkan.loaded:
        return _why_not_loaded(vulkan)
    software = [device.name for device in devices if device.kind is DeviceKind.SOFTWARE]
    if software:
        return f"the only graphics driver found is a software one ({software[0].split(' ')[0]})"
    return "no Vulkan driver was found"


def _why_not_loaded(vulkan: BackendInfo) -> str:
    error = vulkan.error or "unknown reason"
    missing = missing_library(error)
    if missing and "vulkan" in missing and "ggml" not in missing:
        return f"the Vulkan loader ({missing}) is missing"
    if missing:
        return f"the Vulkan backend misses the library {missing}"
    return error if error.startswith("Vulkan was not built") else f"the Vulkan backend could not be loaded ({error})"


def missing_library(error: str) -> str | None:
    """The library that the dynamic loader missed, out of its message: ``libvulkan.so.1``."""
    match = re.search(r"(lib[^\s:/]+\.so[\w.]*): cannot open shared object file", error)
    return match.group(1) if match else None
