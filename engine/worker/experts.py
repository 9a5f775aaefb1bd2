"""Experts of a mixture-of-experts model that stay in RAM while the rest of their layers is on the GPU."""

from __future__ import annotations

import ctypes
from typing import Any

EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
"""Names of the tensors that hold all experts of a layer, in one piece."""


class TensorOverride(ctypes.Structure):
    """``llama_model_tensor_buft_override``: tensors whose name matches go to that buffer."""

    _fields_ = [("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p)]


def experts_pattern(layers: int, n_layers: int | None) -> str:
    """Regular expression for the experts of the first ``layers`` layers of a model that has ``n_layers``.

    One expression for all of them: llama.cpp compiles each one again for every tensor.
    """
    if n_layers is not None and layers >= n_layers:
        return EXPERTS
    return rf"^blk\.({'|'.join(str(layer) for layer in range(layers))}){EXPERTS}"


def overrides(layers: int, n_layers: int | None, ram: int) -> Any:
    """The array for llama.cpp, or None when no layer is meant. ``ram``: handle of the CPU's buffer type."""
    if layers <= 0:
        return None
    pattern = experts_pattern(layers, n_layers).encode("ascii")
    return (TensorOverride * 2)(TensorOverride(pattern, ram), TensorOverride(None, None))
