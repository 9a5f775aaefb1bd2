"""Variables of the environment that steer ggml's backends: which ones there are, what they take, which ones stray."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.settings.records import BackendSettings
from engine.client.command import overlays_kept_away

__all__ = [
    "Kind",
    "Problem",
    "Variable",
    "backend_environment",
    "known",
    "known_for",
    "overlays_kept_away",
    "problem_with",
    "strays",
]

OFF_ENV: Final = "VRAMBLE_BACKENDS_OFF"
"""Comma list of the backends that the worker must not load."""

LONGEST_VALUE: Final = 1000


class Kind(StrEnum):
    """What a variable takes."""

    FLAG = "flag"
    """Set or not: any value switches it on, so only 1 is taken."""
    NUMBERS = "numbers"
    """Numbers of devices, separated by commas."""
    DEVICES = "devices"
    """The same, or -1 for none."""
    IDS = "ids"
    """Numbers or ``GPU-...`` names of devices, separated by commas; -1 none."""
    VERSION = "version"
    """Three numbers with dots, such as 10.3.0."""
    BYTES = "bytes"
    """A whole number of bytes."""
    TEXT = "text"


@dataclass(frozen=True)
class Variable:
    """One variable that is known to do something.

    Attributes:
        backends: Backends it belongs to, as in `BackendInfo.name`.
        example: A value that it takes.
    """

    name: str
    backends: tuple[str, ...]
    kind: Kind
    example: str = "1"


_VULKAN, _ROCM = ("Vulkan",), ("ROCm",)

KNOWN: tuple[Variable, ...] = (
    Variable("GGML_VK_VISIBLE_DEVICES", _VULKAN, Kind.NUMBERS, "0"),
    Variable("GGML_VK_PREFER_HOST_MEMORY", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_ALLOW_SYSMEM_FALLBACK", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_COOPMAT", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_COOPMAT2", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_INTEGER_DOT_PRODUCT", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_F16", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_FUSION", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_DISABLE_ASYNC", _VULKAN, Kind.FLAG),
    Variable("GGML_VK_SUBALLOCATION_BLOCK_SIZE", _VULKAN, Kind.BYTES, "1073741824"),
    Variable("GGML_VK_FORCE_MAX_ALLOCATION_SIZE", _VULKAN, Kind.BYTES, "2147483648"),
    Variable("RADV_PERFTEST", _VULKAN, Kind.TEXT, "nogttspill"),
    Variable("HSA_OVERRIDE_GFX_VERSION", _ROCM, Kind.VERSION, "10.3.0"),
    Variable("HIP_VISIBLE_DEVICES", _ROCM, Kind.DEVICES, "0"),
    Variable("ROCR_VISIBLE_DEVICES", _ROCM, Kind.IDS, "0"),
    Variable("HSA_ENABLE_SDMA", _ROCM, Kind.TEXT, "0"),
    Variable("GGML_CUDA_ENABLE_UNIFIED_MEMORY", (*_ROCM, "CUDA"), Kind.FLAG),
    Variable("GGML_CUDA_DISABLE_GRAPHS", (*_ROCM, "CUDA"), Kind.FLAG),
    Variable("GGML_CUDA_DISABLE_FUSION", (*_ROCM, "CUDA"), Kind.FLAG),
    Variable("GGML_CUDA_NO_PINNED", (*_ROCM, "CUDA"), Kind.FLAG),
    Variable("CUDA_VISIBLE_DEVICES", ("CUDA",), Kind.IDS, "0"),
)

_BY_NAME = {variable.name: variable for variable in KNOWN}
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_OWN = re.compile(r"VRAMBLE_.*|PYTHON.*|QT_.*|LD_PRELOAD|LD_AUDIT|PATH|HOME|SHELL|USER|LOGNAME|DISPLAY")
"""What the worker needs as it is."""

_PATTERNS: Mapping[Kind, re.Pattern[str]] = {
    Kind.FLAG: re.compile(r"1"),
    Kind.NUMBERS: re.compile(r"\d{1,3}(,\d{1,3})*"),
    Kind.DEVICES: re.compile(r"-1|\d{1,3}(,\d{1,3})*"),
    Kind.IDS: re.compile(r"-1|(\d{1,3}|GPU-[0-9A-Za-z-]{1,64})(,(\d{1,3}|GPU-[0-9A-Za-z-]{1,64}))*"),
    Kind.VERSION: re.compile(r"\d{1,2}\.\d{1,2}\.\d{1,2}"),
    Kind.BYTES: re.compile(r"[1-9]\d{0,15}"),
    Kind.TEXT: re.compile(r".+", re.DOTALL),
}
_STRAY = re.compile(
    r"(?:HIP|ROCR|HSA|GGML|RADV|VK)_[A-Za-z0-9_]+"
    r"|CUDA_VISIBLE_DEVICES|AMD_VULKAN_ICD|DRI_PRIME|GPU_DEVICE_ORDINAL|VRAMBLE_ALLOW_SOFTWARE_GPU"
)


class Problem(StrEnum):
    """Why a variable is not taken."""

    NAME = "name"
    """No name of a variable: capital letters, digits and underscores."""
    OWN = "own"
    """The program itself needs it."""
    EMPTY = "empty"
    VALUE = "value"
    """Not what this variable takes."""


def known(name: str) -> Variable | None:
    """What is known about the variable ``name``."""
    return _BY_NAME.get(name)


def known_for(backend: str) -> tuple[Variable, ...]:
    """The known variables of one backend."""
    return tuple(v for v in KNOWN if backend.casefold() in {name.casefold() for name in v.backends})


def problem_with(name: str, value: str) -> Problem | None:
    """Why ``name=value`` cannot be given to the worker, or None."""
    if not _NAME.fullmatch(name):
        return Problem.NAME
    if _OWN.fullmatch(name):
        return Problem.OWN
    if not value.strip():
        return Problem.EMPTY
    variable = known(name)
    kind = variable.kind if variable is not None else Kind.TEXT
    if len(value) > LONGEST_VALUE or not value.isprintable() or not _PATTERNS[kind].fullmatch(value):
        return Problem.VALUE
    return None


def strays(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that the program was started with and that change how a GPU is used, by name."""
    return {name: environ[name] for name in sorted(environ) if _STRAY.fullmatch(name)}


def without_ignored(settings: BackendSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` without the strays that the user keeps away from the engine."""
    ignored = {name for name in settings.ignored if _STRAY.fullmatch(name)}
    return {name: value for name, value in environ.items() if name not in ignored}


def backend_environment(settings: BackendSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` of a worker as the user wants it: what strays left out, own values laid over, backends off.

    Entries that a hand-edited file made unusable are passed over.
    """
    result = without_ignored(settings, environ)
    for backend, values in settings.environment.items():
        if not settings.is_off(backend):
            result.update({name: value for name, value in values.items() if problem_with(name, value) is None})
    if names := [name.strip() for name in settings.off if name.strip() and name.isprintable() and "," not in name]:
        result[OFF_ENV] = ",".join(dict.fromkeys([*_names(result.get(OFF_ENV, "")), *names]))
    return result


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
