"""The kinds of ggml plugins: file names, names of the backends, load order."""

from __future__ import annotations

from pathlib import Path

PREFIX = "libggml-"
CPU = "cpu"

NAMES = {
    "blas": "BLAS",
    "zendnn": "ZenDNN",
    "cann": "CANN",
    "cuda": "CUDA",
    "hip": "ROCm",
    "metal": "MTL",
    "rpc": "RPC",
    "sycl": "SYCL",
    "vulkan": "Vulkan",
    "virtgpu": "ggml-virtgpu",
    "opencl": "OpenCL",
    "hexagon": "HTP",
    "musa": "MUSA",
    "openvino": "OPENVINO",
    "webgpu": "WebGPU",
    "zdnn": "zDNN",
    CPU: "CPU",
}
"""Kind in the file's name -> what the backend calls itself once it is loaded, in ggml's own load order.

The CPU is last: it must not win over a special backend.
"""

WITHOUT_DEVICES = frozenset({"RPC", "BLAS"})
"""Backends that may be loaded without a device of their own: nothing is wrong then."""

_NOT_PLUGINS = frozenset({"base"})
_ORDER = list(NAMES)


def kind_of(plugin: Path) -> str:
    """``cpu`` for ``libggml-cpu-haswell.so``, ``vulkan`` for ``libggml-vulkan.so``."""
    return plugin.name.removeprefix(PREFIX).removesuffix(".so").split("-")[0].lower()


def is_plugin_name(name: str) -> bool:
    """Whether a file of this name is taken for a plugin: ``libggml-KIND.so``, not the base library."""
    stem = name.removeprefix(PREFIX).removesuffix(".so")
    return name.startswith(PREFIX) and name.endswith(".so") and bool(stem) and stem not in _NOT_PLUGINS


def backend_name(kind: str) -> str:
    """The backend's name as far as it is known before loading it."""
    return NAMES.get(kind, kind)


def load_rank(kind: str) -> tuple[int, str]:
    """Sorts kinds into load order; unknown ones come after the known ones, by name, and before the CPU."""
    if kind == CPU:
        return (len(_ORDER) + 1, kind)
    return (_ORDER.index(kind) if kind in NAMES else len(_ORDER), kind)
