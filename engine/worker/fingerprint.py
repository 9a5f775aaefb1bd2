"""What decides the numbers that a loaded model computes, as one short word.

Two loads with the same fingerprint run the same kernels on the same weights: what a self-test said of one holds for
the other. It changes with the model file and its adapters, with the engine's build and its plugins, with the device,
its driver (the files of the driver that this process has mapped) and its switches in the environment, and with those
load options that choose kernels or values.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from engine.library.names import shard_name, shard_of
from engine.protocol.types import BackendInfo, LoadOptions, ModelInfo, RopeScaling

TEST_VERSION: Final = 1
"""Raise it when the self-test itself says something else than before."""

MAPS: Final = Path("/proc/self/maps")
DRIVER_FILES: Final = re.compile(
    r"/[^\s]*/(?:libvulkan_|amdvlk|libamdhip|libhsa-|librocblas|libhipblas|libnvidia|libGLX_nvidia|libcuda|libLLVM"
    r"|libze_|libigc|libOpenCL|libggml)[^\s/]*"
)
SWITCHES: Final = ("GGML_", "HSA_", "RADV_", "AMD_", "ROCBLAS_", "CUDA_", "MESA_", "VK_")
UNIMPORTANT: Final = frozenset(
    {
        *("n_ctx", "n_threads", "n_parallel", "mmap", "device", "devices", "flash_attention", "n_gpu_layers", "mmproj"),
        *("draft", "draft_gpu_layers", "ngram", "n_draft", "n_draft_min", "draft_p_min"),
    }
)
"""Options that choose no kernel, and those whose outcome `ModelInfo` tells."""


def fingerprint(
    info: ModelInfo,
    options: LoadOptions,
    backends: Sequence[BackendInfo],
    engine: str,
    environ: Mapping[str, str] | None = None,
    maps: Path = MAPS,
) -> str:
    """The fingerprint of one load.

    Args:
        engine: Version of the engine's build.
        environ: Environment of the process; default: its own.
        maps: The kernel's list of what the process has mapped.
    """
    used = {device.backend for device in info.devices}
    env = os.environ if environ is None else environ
    facts = {
        "test": TEST_VERSION,
        "engine": engine,
        "files": [_stamp(path) for path in (*model_files(Path(info.path)), *(Path(a.path) for a in options.lora))],
        "devices": [(device.backend, device.name, device.pci) for device in info.devices],
        "plugins": [_stamp(Path(backend.path)) for backend in backends if backend.loaded and backend.name in used],
        "driver": [_stamp(Path(path)) for path in driver_files(maps)] if used - {"CPU"} else [],
        "switches": sorted((name, value) for name, value in env.items() if name.startswith(SWITCHES)),
        "options": _chosen(options),
        "outcome": (info.gpu_layers, info.flash_attention),
    }
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:24]


def cache_mark(mark: str, info: ModelInfo, options: LoadOptions) -> str:
    """The fingerprint ``mark`` of a load, and what else decides what its KV cache holds: a stretched RoPE."""
    stretched = options.rope_scaling in (RopeScaling.LINEAR, RopeScaling.YARN) and not options.rope_freq_scale
    return f"{mark}/{info.n_ctx}" if stretched else mark


def model_files(path: Path) -> list[Path]:
    """All parts of a split set, or the one file."""
    part = shard_of(path.name)
    return [path] if part is None else [path.with_name(shard_name(part, no)) for no in range(1, part.total + 1)]


def driver_files(maps: Path = MAPS) -> list[str]:
    """Paths of the driver's files that the process has mapped; empty where that cannot be read."""
    try:
        text = maps.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return sorted(set(DRIVER_FILES.findall(text)))


def driver_words(maps: Path = MAPS) -> str:
    """The files of the graphics driver with their dates, for people: ``libvulkan_radeon.so of 2026-11-02``."""
    found = (Path(path) for path in driver_files(maps))
    return ", ".join(
        f"{path.name} of {datetime.fromtimestamp(stamp / 1e9, UTC).date().isoformat()}"
        for path in found
        if not path.name.startswith("libggml") and (stamp := _stamp(path)[2]) > 0
    )


def _chosen(options: LoadOptions) -> dict[str, object]:
    chosen: dict[str, object] = msgspec.to_builtins(options)
    return {name: value for name, value in chosen.items() if name not in UNIMPORTANT}


def _stamp(path: Path) -> tuple[str, int, int]:
    """Name, size and time of change: a file that has all three is taken for the same one."""
    try:
        found = path.stat()
    except OSError:
        return str(path), -1, -1
    return str(path), found.st_size, found.st_mtime_ns
