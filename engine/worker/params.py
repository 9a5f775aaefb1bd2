"""`LoadOptions` as llama.cpp's parameter structures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from engine.loading.rope import TrainedContext, frequency_scale
from engine.protocol.types import FlashAttention, KvType, LoadOptions, RopeScaling, SplitMode
from engine.worker.cancel import CancelFlag
from engine.worker.experts import overrides
from engine.worker.huge_pages import reads_weights
from engine.worker.native import Llama
from engine.worker.plan import Plan
from engine.worker.threads import physical_cores

MIN_CONTEXT = 16
_FLASH = {FlashAttention.AUTO: -1, FlashAttention.ON: 1, FlashAttention.OFF: 0}
_KV_TYPES = {KvType.F16: 1, KvType.Q8_0: 8, KvType.Q4_0: 2}
_SPLIT = {None: 0, SplitMode.LAYER: 1, SplitMode.ROW: 2, SplitMode.TENSOR: 3}
_ROPE = {RopeScaling.MODEL: -1, RopeScaling.NONE: 0, RopeScaling.LINEAR: 1, RopeScaling.YARN: 2}
_FROM_MODEL = -1.0


def model_params(llama: Llama, plan: Plan, progress: Callable[[float], bool]) -> tuple[Any, tuple[object, ...]]:
    """The structure, and what must live as long as the load. ``progress`` false cancels."""
    api, options = llama.api, plan.options
    params = api.llama_model_default_params()
    handles = (ctypes.c_void_p * (len(plan.handles) + 1))(*plan.handles, None)
    shares = _shares(plan.placement.shares, api.llama_max_devices())
    experts = overrides(options.n_cpu_moe, plan.header.n_layers, llama.ggml.cpu_buffer_type()) if plan.on_gpu else None
    callback = api.llama_progress_callback(lambda done, _data: progress(done))
    params.devices = ctypes.addressof(handles)
    params.split_mode = _SPLIT[plan.placement.split]
    params.main_gpu = 0
    if shares is not None:
        params.tensor_split = shares
    if experts is not None:
        params.tensor_buft_overrides = ctypes.addressof(experts)
    params.n_gpu_layers = options.n_gpu_layers if plan.on_gpu else 0
    params.load_mode = load_mode(plan)
    params.progress_callback = callback
    return params, (handles, shares, experts, callback)


def _shares(shares: Sequence[float], length: int) -> Any:
    """llama.cpp copies as many numbers as there can be devices, so the array is that long."""
    return (ctypes.c_float * length)(*shares) if shares else None


def load_mode(plan: Plan) -> int:
    """``llama_load_mode``: -1 lets llama.cpp decide (no mmap where memory is unified), 1 maps the file, 0 reads it."""
    mmap = plan.options.mmap
    if mmap is None:
        return 0 if reads_weights(plan) else -1
    return int(mmap)


def context_params(llama: Llama, options: LoadOptions, trained: TrainedContext, cancel: CancelFlag) -> Any:
    """The structure. Native code polls ``cancel`` while it computes on the CPU.

    Logits are asked for of the last token of a slice, and of guesses: room for all costs vocabulary x micro-batch.
    """
    api = llama.api
    params = api.llama_context_default_params()
    threads = options.n_threads if options.n_threads > 0 else physical_cores()
    params.n_ctx = max(MIN_CONTEXT, options.n_ctx) if options.n_ctx > 0 else 0
    params.n_batch = options.n_batch
    params.n_ubatch = min(options.n_ubatch, options.n_batch)
    params.n_seq_max = options.n_parallel
    params.kv_unified = options.n_parallel > 1  # all share n_ctx; else each would have a part of it
    params.n_outputs_max = min(options.n_batch, options.n_parallel + most_guessed(options))
    params.n_threads = threads
    params.n_threads_batch = threads
    params.flash_attn_type = _FLASH[options.flash_attention]
    params.type_k = _KV_TYPES[options.kv_type_k]
    params.type_v = _KV_TYPES[options.kv_type_v]
    params.offload_kqv = not options.kv_on_cpu
    params.swa_full = False
    _set_rope(params, options, trained)
    params.abort_callback = api.ggml_abort_callback(cancel.callback_address)
    params.abort_callback_data = cancel.data_address
    return params


def most_guessed(options: LoadOptions) -> int:
    """Tokens of the longest guess, computed in one micro-batch with the token before it; 0: nothing is guessed."""
    wanted = options.draft or options.ngram
    return max(0, min(options.n_draft, options.n_batch - 1, options.n_ubatch - 1)) if wanted else 0


def _set_rope(params: Any, options: LoadOptions, trained: TrainedContext) -> None:
    params.rope_scaling_type = _ROPE[options.rope_scaling]
    params.rope_freq_base = options.rope_freq_base
    params.rope_freq_scale = frequency_scale(options, trained)
    params.yarn_orig_ctx = options.yarn_orig_ctx or (
        trained.original if options.rope_scaling is RopeScaling.YARN else 0
    )
    for name in ("yarn_ext_factor", "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow"):
        given = getattr(options, name)
        setattr(params, name, _FROM_MODEL if given is None else given)
