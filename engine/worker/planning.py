"""What a load is going to do: checks of file and options, and the devices. Nothing native is loaded yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.backends.placement import place
from engine.library.gguf.metadata import Metadata
from engine.loading.check import check_options
from engine.loading.rope import TrainedContext
from engine.loading.suits import check_heads, entries_needed, original_context
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions
from engine.worker.lora import check_adapter
from engine.worker.native import Llama, Pointer
from engine.worker.plan import Plan
from engine.worker.validate import check_file


def plan_load(llama: Llama, catalogue: Catalogue, path: Path, options: LoadOptions) -> tuple[Plan, Metadata]:
    """The plan, and those entries of the file that the options need. The log forgets the load before.

    Raises:
        VrambleError: Those of `engine.worker.validate`, `engine.worker.lora` and `engine.loading`.
    """
    check_options(options)
    header = check_file(path)
    metadata = entries_needed(path, options)
    check_heads(options, metadata)
    for adapter in options.lora:
        check_adapter(Path(adapter.path), header.architecture)
    llama.log.begin_load()
    devices = catalogue.devices()
    handles = {device.info.id: device.handle for device in devices}

    def splits_rows(infos: Sequence[DeviceInfo]) -> bool:
        return llama.ggml.splits_rows([handles[info.id] for info in infos])

    infos = [device.info for device in devices]
    placement = place(infos, catalogue.backends, options, splits_rows)
    gpus = tuple(handles[info.id] for info in placement.devices if info.kind is not DeviceKind.CPU)
    return Plan(path, header, options, placement, gpus), metadata


def trained_context(llama: Llama, model: Pointer, metadata: Metadata) -> TrainedContext:
    """Asked before the context is made: a context with YaRN changes the model's own figure."""
    n_ctx = llama.api.llama_model_n_ctx_train(model)
    original = original_context(metadata) or n_ctx
    return TrainedContext(n_ctx, original, llama.api.llama_model_rope_freq_scale_train(model))
