"""`LoadOptions` as llama.cpp's parameter structures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from engine.backends.devices import Device
from engine.protocol.types import DeviceKind, FlashAttention, LoadOptions
from engine.worker.cancel import CancelFlag
from engine.worker.native import Llama
from engine.worker.threads import physical_cores

MIN_CONTEXT = 16
_FLASH = {FlashAttention.AUTO: -1, FlashAttention.ON: 1, FlashAttention.OFF: 0}


def model_params(
    llama: Llama, device: Device, options: LoadOptions, progress: Callable[[float], bool]
) -> tuple[Any, tuple[object, ...]]:
    """The structure, and what must live as long as the load. ``progress`` false cancels."""
    api = llama.api
    params = api.llama_model_default_params()
    on_gpu = device.info.kind is not DeviceKind.CPU
    handles = (ctypes.c_void_p * 2)(device.handle if on_gpu else None, None)
    callback = api.llama_progress_callback(lambda done, _data: progress(done))
    params.devices = ctypes.addressof(handles)
    params.split_mode = api.LLAMA_SPLIT_MODE_NONE
    params.main_gpu = 0
    params.n_gpu_layers = options.n_gpu_layers if on_gpu else 0
    params.load_mode = load_mode(options.mmap)
    params.progress_callback = callback
    return params, (handles, callback)


def load_mode(mmap: bool | None) -> int:
    """``llama_load_mode``: -1 lets llama.cpp decide (no mmap where memory is unified), 1 maps the file, 0 reads it."""
    return -1 if mmap is None else int(mmap)


def context_params(llama: Llama, options: LoadOptions, cancel: CancelFlag) -> Any:
    """The structure for one sequence. Native code polls ``cancel`` while it computes on the CPU."""
    api = llama.api
    params = api.llama_context_default_params()
    threads = options.n_threads if options.n_threads > 0 else physical_cores()
    params.n_ctx = max(MIN_CONTEXT, options.n_ctx) if options.n_ctx > 0 else 0
    params.n_batch = max(1, options.n_batch)
    params.n_ubatch = max(1, min(options.n_ubatch, options.n_batch))
    params.n_seq_max = 1
    params.n_threads = threads
    params.n_threads_batch = threads
    params.flash_attn_type = _FLASH[options.flash_attention]
    params.swa_full = False
    params.abort_callback = api.ggml_abort_callback(cancel.callback_address)
    params.abort_callback_data = cancel.data_address
    return params
