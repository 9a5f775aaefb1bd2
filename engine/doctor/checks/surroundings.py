"""GPU time limit, sandbox, environment, disk, and the pair of Python and Qt."""

from __future__ import annotations

import re
from pathlib import PurePath

from engine.doctor import fixes, parse
from engine.doctor.facts import Facts
from engine.doctor.parse import Version
from engine.doctor.records import Finding, Fix, Skipped, Status

LOCKUP = "amdgpu.lockup_timeout"
LONG_ENOUGH_MS = 10_000
LOCKUP_DEFAULT_MS = 10_000
LOCKUP_DEFAULT_7_MS = 2_000
"""From Linux 7 on; one value then stands for all queues, before only for those without compute."""

GB = 10**9
DISK_LOW, DISK_NONE = 10 * GB, 1 * GB

PREFIXES = ("HIP_", "ROCR_", "HSA_", "GGML_")
SINGLE = (
    "CUDA_VISIBLE_DEVICES", "AMD_VULKAN_ICD", "DRI_PRIME", "GPU_DEVICE_ORDINAL", "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
    "VK_INSTANCE_LAYERS", "VK_LOADER_DRIVERS_DISABLE", "VK_LOADER_DRIVERS_SELECT", "VRAMBLE_ALLOW_SOFTWARE_GPU",
)  # fmt: skip
OVERLAYS = ("MANGOHUD", "MANGOAPP", "ENABLE_VKBASALT", "OBS_VKCAPTURE", "ENABLE_GAMESCOPE_WSI")
"""Taken away from the engine by Vramble itself."""

_NAME = re.compile(rf"(?:{'|'.join(PREFIXES)})[A-Za-z0-9_]+|{'|'.join(SINGLE)}")

HIDING = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
FLATPAK_WANTS = {"dri": "--device=dri", "network": "--share=network", "/run/media": "--filesystem=/run/media"}

PYSIDE_LEAST = (6, 10)
BAD_PYSIDE, BAD_BELOW = (6, 12, 0), (3, 12)


def lockup_timeout(facts: Facts) -> Finding | Skipped:
    """How long one piece of GPU work may take before the driver resets the GPU."""
    if not facts.usable_cards:
        return Skipped("There is no card that amdgpu drives.")
    kernel = parse.version(facts.kernel)
    text = facts.setting(LOCKUP)
    given = parse.lockup_timeouts(text)
    if kernel is None and (given is None or len(given) < 2 or given[1] == 0):
        return Finding(Status.WARN, "The limit is unknown, because the kernel's version is.")
    limit = compute_timeout(given, kernel or ())
    if limit is None:
        return Finding(Status.OK, f"Compute work has no time limit ({LOCKUP}={text})")
    origin = f"{LOCKUP}={text}" if given else "the kernel's default"
    found = f"The GPU is reset when one piece of compute work takes more than {limit / 1000:g} s ({origin})"
    if limit >= LONG_ENOUGH_MS:
        return Finding(Status.OK, found)
    advice = (
        "Long prompts and large models can take longer; the engine then loses the GPU. "
        "Raise the limit and restart, or load with a micro-batch of 128 or 64."
    )
    value = ",".join([str(LONG_ENOUGH_MS)] * 4)
    return Finding(Status.WARN, found, advice, fixes.module_parameters(facts, [(LOCKUP, value)]))


def compute_timeout(given: tuple[int, ...] | None, kernel: Version) -> int | None:
    """Milliseconds for compute work; None: without limit.

    Args:
        given: What ``amdgpu.lockup_timeout`` says: for all, or for GFX, compute, SDMA, video. 0 is the default and
            a negative value no limit.
    """
    default = LOCKUP_DEFAULT_7_MS if kernel >= (7,) else LOCKUP_DEFAULT_MS
    if not given:
        return default
    only = given[0] if kernel >= (7,) else 0
    value = only if len(given) == 1 else given[1]
    return None if value < 0 else value or default


def flatpak(facts: Facts) -> Finding | Skipped:
    """What the sandbox may use."""
    box = facts.flatpak
    if box is None:
        return Skipped("Not inside Flatpak.")
    version = ".".join(str(part) for part in box.version) if box.version else "of unknown version"
    missing = []
    if not box.devices & {"dri", "all"}:
        missing.append("dri")
    if "network" not in box.shared:
        missing.append("network")
    if not any(name.partition(":")[0] in ("host", "/run/media", "/run") for name in box.filesystems):
        missing.append("/run/media")
    if not missing:
        return Finding(Status.OK, f"Flatpak {version}: graphics, network and removable media are allowed")
    words = {"dri": "the graphics card", "network": "the network (downloads)", "/run/media": "removable media"}
    found = f"Flatpak {version}, without access to {', '.join(words[name] for name in missing)}"
    fix = fixes.flatpak_permissions(facts, [FLATPAK_WANTS[name] for name in missing])
    status = Status.FAIL if "dri" in missing else Status.WARN
    return Finding(status, found, "Allow it, and start the program again.", fix)


def environment(facts: Facts) -> Finding | Skipped:
    """Variables that change which GPU is used, or how, and that are easily forgotten."""
    strays = sorted(name for name in facts.environ if _NAME.fullmatch(name))
    overlays = [name for name in OVERLAYS if facts.environ.get(name)]
    preloaded = _preloaded(facts.environ.get("LD_PRELOAD", ""))
    quiet = [*overlays, *(["LD_PRELOAD"] if preloaded else [])]
    aside = f"{', '.join(quiet)}: overlays, kept away from the engine" if quiet else ""
    others = [name for name in preloaded if not any(word in name for word in ("gameoverlay", "mango"))]
    parts = [f"{name}={facts.environ[name]}" for name in strays]
    parts += [f"LD_PRELOAD of {', '.join(others)}"] if others else []
    if not parts:
        return Finding(Status.OK, aside or "No variable changes how the GPU is used")
    hidden = [name for name in HIDING if facts.environ.get(name, "").strip() in ("-1", "") and name in facts.environ]
    advice = "They change which GPU is used, or how. Start the program without them unless you set them on purpose."
    if hidden:
        advice = f"{', '.join(hidden)} hides every GPU. {advice}"
    fix = Fix("unset " + " ".join([*strays, *(["LD_PRELOAD"] if others else [])]))
    return Finding(Status.WARN, "; ".join(parts + ([aside] if aside else [])), advice, fix)


def _preloaded(value: str) -> list[str]:
    """File names of preloaded libraries: their folders can name the user."""
    return [PurePath(entry).name for entry in value.replace(":", " ").split()]


def disk(facts: Facts) -> Finding | Skipped:
    """Room for another model."""
    free = facts.install.models_free
    if free is None:
        return Finding(Status.WARN, "The free space for models is unknown.")
    found = f"{free / GB:.1f} GB free for models"
    if free >= DISK_LOW:
        return Finding(Status.OK, found)
    advice = "A model of 8 billion parameters takes about 5 GB. Remove models or free some space."
    return Finding(Status.FAIL if free < DISK_NONE else Status.WARN, found, advice, Fix("vramble models list"))


def python_qt(facts: Facts) -> Finding | Skipped:
    """One pair of Python and PySide6 ends the window after a while."""
    python = facts.install.python
    name = f"Python {'.'.join(str(part) for part in python)}"
    pyside = parse.version(facts.install.pyside)
    if pyside is None:
        return Finding(Status.WARN, f"{name}, no PySide6", "The commands work; the window needs PySide6 6.10 or newer.")
    found = f"{name}, PySide6 {facts.install.pyside}"
    if pyside == BAD_PYSIDE and python < BAD_BELOW:
        advice = "This pair ends the window after some minutes. Use another PySide6, or Python 3.12 or newer."
        return Finding(Status.FAIL, found, advice, Fix("python -m pip install 'PySide6-Essentials>=6.10,!=6.12.0'"))
    if pyside < PYSIDE_LEAST:
        return Finding(Status.WARN, found, "The window is made for PySide6 6.10 or newer.")
    return Finding(Status.OK, found)
