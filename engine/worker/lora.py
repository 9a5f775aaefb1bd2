"""LoRA adapters: files checked before native code reads them, loaded with the model, set on the context."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path

from engine.errors import VrambleError
from engine.library.gguf import ModelHeader, read_file
from engine.loading.metadata import file_metadata
from engine.protocol.types import LoraAdapter
from engine.worker.native import Llama, Pointer

OTHER_ADAPTER = "Choose another adapter, or load the model without it."
_REASON = re.compile(r"failed to apply lora adapter: (.+)")
_WRONG_BASE = re.compile(r"does not exist in base model|has incorrect shape")


def check_adapter(path: Path, architecture: str) -> None:
    """Refuse a file that is no LoRA adapter for this architecture.

    Raises:
        VrambleError: ``lora-missing``, ``lora-damaged``, ``not-a-lora`` or ``lora-mismatch``.
    """
    if not path.is_file():
        raise VrambleError("lora-missing", f"The LoRA adapter {path.name} does not exist.", OTHER_ADAPTER, str(path))
    header = read_file(path)
    if not isinstance(header, ModelHeader):
        raise VrambleError("lora-damaged", f"{path.name}: {header.message}", OTHER_ADAPTER, str(path))
    metadata = file_metadata(path)
    # llama.cpp aborts on entries of another type than it expects.
    is_lora = metadata.text("adapter.type") == "lora" and isinstance(
        metadata.values.get("adapter.lora.alpha", 0.0), float
    )
    if header.kind != "adapter" or not is_lora:
        raise VrambleError("not-a-lora", f"{path.name} is no LoRA adapter.", OTHER_ADAPTER, str(path))
    if header.architecture != architecture:
        made_for = header.architecture or "no known architecture"
        message = f"The LoRA adapter {path.name} is for {made_for}, the model is {architecture}."
        raise VrambleError("lora-mismatch", message, OTHER_ADAPTER, str(path))


def load_adapters(llama: Llama, model: Pointer, adapters: Sequence[LoraAdapter]) -> list[Pointer]:
    """Native handles, freed with the model. Adapters come before the context is made.

    Raises:
        VrambleError: ``lora-mismatch`` or ``lora-failed`` with llama.cpp's reason.
    """
    return [_load(llama, model, Path(adapter.path)) for adapter in adapters]


def _load(llama: Llama, model: Pointer, path: Path) -> Pointer:
    handle = llama.api.llama_adapter_lora_init(model, os.fsencode(path))
    if handle:
        return handle
    log = llama.log.tail()
    reasons = _REASON.findall(log)
    if reasons and _WRONG_BASE.search(reasons[-1]):
        message = f"The LoRA adapter {path.name} was made for another model."
        raise VrambleError("lora-mismatch", message, OTHER_ADAPTER, log)
    reason = f": {reasons[-1].strip().rstrip('.')}" if reasons else ""
    raise VrambleError("lora-failed", f"The LoRA adapter {path.name} could not be loaded{reason}.", OTHER_ADAPTER, log)


def set_adapters(llama: Llama, context: Pointer, handles: Sequence[Pointer], adapters: Sequence[LoraAdapter]) -> None:
    """Lay the adapters over the model, each with its scale."""
    if not handles:
        return
    count = len(handles)
    pointers = (type(handles[0]) * count)(*handles)
    scales = (ctypes.c_float * count)(*(adapter.scale for adapter in adapters))
    llama.api.llama_set_adapters_lora(context, pointers, count, scales)
