"""Devices, sizes, verdicts and variables in words."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from engine.library.sizes import size_text
from engine.memory.sizes import gib_number
from engine.protocol.types import DeviceInfo, DeviceKind


def tr(text: str, n: int = -1) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("SettingsWords", text, None, n)


def file_size(size: int | None) -> str:
    """Room on a disk; unknown is never 0."""
    return tr("unknown") if size is None else size_text(size)


def shown_path(path: Path | str) -> str:
    """``path`` with the home folder as ``~``."""
    text, home = str(path), str(Path.home())
    return f"~{text.removeprefix(home)}" if text == home or text.startswith(home + "/") else text


def kind(device: DeviceInfo) -> str:
    """What a device is."""
    return {
        DeviceKind.GPU: tr("Graphics card"),
        DeviceKind.IGPU: tr("Integrated graphics"),
        DeviceKind.CPU: tr("Processor"),
        DeviceKind.SOFTWARE: tr("Software driver"),
    }[device.kind]


def device_line(device: DeviceInfo) -> str:
    """Kind, backend, address and memory of a device in one line."""
    parts = [kind(device), device.backend, device.pci or ""]
    if device.memory_total is not None:
        parts.append(tr("{0} GiB").format(gib_number(device.memory_total)))
    return " · ".join(part for part in parts if part)


VARIABLES = {
    "GGML_VK_VISIBLE_DEVICES": QT_TRANSLATE_NOOP("SettingsWords", "Which Vulkan devices the engine sees, by number."),
    "GGML_VK_PREFER_HOST_MEMORY": QT_TRANSLATE_NOOP(
        "SettingsWords", "Puts buffers into RAM rather than into video memory."
    ),
    "GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM": QT_TRANSLATE_NOOP(
        "SettingsWords", "For cards without Resizable BAR: no video memory that the processor sees."
    ),
    "GGML_VK_ALLOW_SYSMEM_FALLBACK": QT_TRANSLATE_NOOP(
        "SettingsWords", "When video memory is full, goes on in RAM instead of failing. Slow."
    ),
    "GGML_VK_DISABLE_COOPMAT": QT_TRANSLATE_NOOP(
        "SettingsWords", "No matrix cores. Tells whether they cause wrong answers."
    ),
    "GGML_VK_DISABLE_COOPMAT2": QT_TRANSLATE_NOOP("SettingsWords", "No matrix cores of the second kind."),
    "GGML_VK_DISABLE_INTEGER_DOT_PRODUCT": QT_TRANSLATE_NOOP("SettingsWords", "No integer dot products."),
    "GGML_VK_DISABLE_F16": QT_TRANSLATE_NOOP(
        "SettingsWords", "Computes with 32 bits. Slower, for drivers that get 16 bits wrong."
    ),
    "GGML_VK_DISABLE_FUSION": QT_TRANSLATE_NOOP(
        "SettingsWords", "Each operation by itself. Slower, for drivers that get fused ones wrong."
    ),
    "GGML_VK_DISABLE_ASYNC": QT_TRANSLATE_NOOP("SettingsWords", "Copies wait for each other."),
    "GGML_VK_SUBALLOCATION_BLOCK_SIZE": QT_TRANSLATE_NOOP("SettingsWords", "Size of memory blocks in bytes."),
    "GGML_VK_FORCE_MAX_ALLOCATION_SIZE": QT_TRANSLATE_NOOP("SettingsWords", "Largest piece of memory in bytes."),
    "RADV_PERFTEST": QT_TRANSLATE_NOOP("SettingsWords", "Options of Mesa's Radeon driver, separated by commas."),
    "HSA_OVERRIDE_GFX_VERSION": QT_TRANSLATE_NOOP(
        "SettingsWords", "Treats the card as another one that ROCm knows, for example 10.3.0 or 11.0.0."
    ),
    "HIP_VISIBLE_DEVICES": QT_TRANSLATE_NOOP("SettingsWords", "Which cards HIP sees, by number. -1 hides all."),
    "ROCR_VISIBLE_DEVICES": QT_TRANSLATE_NOOP("SettingsWords", "Which cards ROCm sees, by number or GPU-… name."),
    "HSA_ENABLE_SDMA": QT_TRANSLATE_NOOP(
        "SettingsWords", "0 copies without the DMA engines, which helps when copies hang."
    ),
    "GGML_CUDA_ENABLE_UNIFIED_MEMORY": QT_TRANSLATE_NOOP(
        "SettingsWords", "Lets a model be larger than video memory. For integrated graphics."
    ),
    "GGML_CUDA_DISABLE_GRAPHS": QT_TRANSLATE_NOOP(
        "SettingsWords", "Starts each kernel by itself, for drivers that hang."
    ),
    "GGML_CUDA_DISABLE_FUSION": QT_TRANSLATE_NOOP("SettingsWords", "Each operation by itself. Slower, to find faults."),
    "GGML_CUDA_NO_PINNED": QT_TRANSLATE_NOOP("SettingsWords", "No pinned RAM. Slower loads that leave more RAM free."),
    "CUDA_VISIBLE_DEVICES": QT_TRANSLATE_NOOP("SettingsWords", "Which cards CUDA sees."),
}


def variable(name: str) -> str:
    """What a variable does; "" when nobody here knows."""
    text = str(VARIABLES.get(name, ""))
    return tr(text) if text else ""
