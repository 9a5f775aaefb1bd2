"""What a model takes on each device: weights, KV cache, compute and output buffers."""

from __future__ import annotations

from typing import Final

from engine.memory.fit.compute import Computing, compute_bytes
from engine.memory.fit.placement import Layout
from engine.memory.fit.records import INPUT, FitModel, LayerCache
from engine.protocol.types import DeviceKind, FlashAttention, KvType, LoadOptions

STEP: Final = 256
"""``GGML_PAD(n_ctx, 256)`` in ``llama_context`` and ``llama_kv_cache_iswa``."""

MIN_CONTEXT: Final = 16
"""Shorter ones are lengthened by `engine.worker.params`."""

_BLOCK: Final = 32
_BLOCK_BYTES: Final = {KvType.F16: 64, KvType.Q8_0: 34, KvType.Q4_0: 18}
"""Bytes of 32 values, the scale of the block included."""

REPACKED: Final = frozenset({"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"})
"""Types that the processor's backend keeps in an order of its own, so that tied embeddings lie in RAM twice
(``ggml_repack_get_optimal_repack_type`` for AVX2)."""

_F32: Final = 4


def context_cells(model: FitModel, options: LoadOptions) -> int:
    """Tokens that the cache has room for: the context, rounded up."""
    n_ctx = max(MIN_CONTEXT, options.n_ctx) if options.n_ctx > 0 else model.context_length
    return -(-n_ctx // STEP) * STEP


def micro_batch(model: FitModel, options: LoadOptions) -> int:
    """Tokens computed at once."""
    n_ctx = max(MIN_CONTEXT, options.n_ctx) if options.n_ctx > 0 else model.context_length
    return min(options.n_ubatch, options.n_batch, n_ctx or options.n_ubatch)


def weight_bytes(model: FitModel, options: LoadOptions, layout: Layout) -> list[int]:
    """Bytes of weights for each device of ``layout``."""
    sums = [0.0] * len(layout.devices)

    def add(device: int, size: float) -> None:
        if layout.parts and device != layout.cpu:
            for gpu, part in enumerate(layout.parts):
                sums[gpu] += size * part
        else:
            sums[device] += size

    for piece in model.pieces:
        device = layout.cpu if piece.layer == INPUT else layout.of_layer[min(piece.layer, model.n_layers)]
        in_ram = piece.expert and piece.layer < options.n_cpu_moe
        unfit = piece.huge and layout.devices[device].info.kind is DeviceKind.SOFTWARE
        add(layout.cpu if in_ram or unfit else device, piece.n_bytes)
    for layer in range(model.n_layers if model.adapters else 0):
        add(layout.of_layer[layer], model.adapters / model.n_layers)
    if _doubled(model, layout):
        add(layout.of_layer[-1], model.tied)
    return [round(size) for size in sums]


def _doubled(model: FitModel, layout: Layout) -> bool:
    """Whether tied embeddings are needed in two places."""
    output = layout.of_layer[-1]
    if not model.tied:
        return False
    if output == layout.cpu:
        return model.tied_kind in REPACKED
    return layout.devices[output].info.kind is not DeviceKind.SOFTWARE or not any(
        piece.huge for piece in model.pieces if piece.layer == INPUT and piece.n_bytes == model.tied
    )


def cache_bytes(model: FitModel, options: LoadOptions, layout: Layout) -> list[int]:
    """Bytes of KV cache and recurrent state for each device of ``layout``."""
    sums = [0.0] * len(layout.devices)
    cells, batch = context_cells(model, options), micro_batch(model, options)
    widest = 0 if _flash(options) else max((cache.values for cache in model.caches), default=0)
    for layer, cache in enumerate(model.caches):
        size = layer_bytes(cache, options, cells, batch, widest)
        device = layout.cpu if options.kv_on_cpu else layout.of_layer[layer]
        if layout.whole and device != layout.cpu:
            for gpu, part in enumerate(layout.parts):
                sums[gpu] += size * part
        else:
            sums[device] += size
    return [round(size) for size in sums]


def whole_cache(model: FitModel, options: LoadOptions) -> int:
    """Bytes of KV cache and recurrent state of all layers, wherever they lie; with flash attention."""
    cells, batch = context_cells(model, options), micro_batch(model, options)
    return sum(layer_bytes(cache, options, cells, batch) for cache in model.caches)


def layer_bytes(cache: LayerCache, options: LoadOptions, cells: int, batch: int, widest: int = 0) -> int:
    """Bytes that one layer keeps. Answers that are written at the same time share the context; each of them has a
    window and a state of its own.

    Args:
        cells: Tokens of context, rounded up.
        batch: Tokens computed at once: a window is longer by them.
        widest: Values of the widest layer, to which the others are padded without flash attention.
    """
    if not cache.keys and not cache.values:
        return cache.state * options.n_parallel
    length = cells
    if cache.window:
        length = min(cells, cache.window * options.n_parallel + batch)
        length = -(-length // STEP) * STEP
    values = max(cache.values, widest) if cache.values else 0
    token = row_bytes(cache.keys, options.kv_type_k) + row_bytes(values, options.kv_type_v)
    return length * token + cache.state * options.n_parallel


def row_bytes(values: int, kind: KvType) -> int:
    """Bytes of ``values`` numbers in this format (``ggml_row_size``)."""
    return -(-values * _BLOCK_BYTES[kind] // _BLOCK)


def output_bytes(model: FitModel, options: LoadOptions) -> int:
    """Logits of one token of each answer, which always lie in RAM."""
    return model.n_vocab * _F32 * options.n_parallel


def buffer_bytes(model: FitModel, options: LoadOptions, layout: Layout) -> list[int]:
    """Bytes of compute buffers for each device of ``layout``, by the formula."""
    cells, batch = context_cells(model, options), micro_batch(model, options)
    some_in_ram = 0 < layout.gpu_layers < model.max_layers
    caches = [layer_bytes(cache, options, cells, batch) for cache in model.caches]
    experts = model.largest_expert if options.n_cpu_moe > 0 else 0
    computing = Computing(
        batch=batch,
        cells=cells,
        parallel=options.n_parallel,
        outputs=_outputs(options),
        flash=_flash(options),
        layer_cache=max(caches, default=0) if some_in_ram or options.kv_on_cpu else 0,
        layer_weight=max(model.largest, model.largest_expert) if some_in_ram else experts,
    )
    return compute_bytes(model, computing, layout)


def _outputs(options: LoadOptions) -> int:
    """Tokens whose logits are asked for at once (`engine.worker.params.context_params`)."""
    guessed = min(options.n_draft, options.n_batch - 1, options.n_ubatch - 1) if options.draft or options.ngram else 0
    return min(options.n_batch, options.n_parallel + max(0, guessed))


def _flash(options: LoadOptions) -> bool:
    """``auto`` becomes on: all backends that are shipped can."""
    return options.flash_attention is not FlashAttention.OFF
