"""A formula for compute buffers, for when llama.cpp itself has not been asked.

The buffer of a device is as large as the tensors of a micro-batch that are alive at the same time. The terms are read
off llama.cpp's graphs and checked against dry runs (`tests/bench/fit_error.py`): masks, the stream of embeddings, the
widest step, and where weights or cache lie in RAM, the copies of them that the GPU computes with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.memory.fit.placement import Layout
from engine.memory.fit.records import FitModel

_F32: Final = 4
_F16: Final = 2


@dataclass(frozen=True)
class Computing:
    """What a graph is built for.

    Attributes:
        batch: Tokens at once.
        cells: Tokens of context.
        parallel: Answers at the same time.
        outputs: Tokens of a micro-batch whose logits are computed.
        flash: Scores are never written out.
        layer_cache: Bytes of the largest cache of a layer in RAM: the GPU computes with a copy.
        layer_weight: The same for the largest weight.
    """

    batch: int
    cells: int
    flash: bool
    parallel: int = 1
    outputs: int = 1
    layer_cache: int = 0
    layer_weight: int = 0


def compute_bytes(model: FitModel, computing: Computing, layout: Layout) -> list[int]:
    """Bytes for each device of ``layout``, the processor last. Prompts are computed by GPUs alone if there are any."""
    masks, row = _masks(model, computing), computing.batch * _F32
    stream = 2 * model.width * row
    if not layout.gpu_layers:
        return [masks + _step(model, computing) * row + 2 * stream]
    gpu = masks + max(stream + _step(model, computing) * row, _with_copies(model, computing))
    return [gpu if number != layout.cpu else masks + stream for number in range(len(layout.devices))]


def _masks(model: FitModel, computing: Computing) -> int:
    """Bytes of the attention masks: one for the whole context, one for the windows."""
    windows = {cache.window for cache in model.caches if cache.keys}
    batch, spread = computing.batch, computing.parallel
    lengths = [min(computing.cells, window * spread + batch) if window else computing.cells for window in windows]
    return sum(lengths) * computing.batch * (_F16 if computing.flash else _F32)


def _step(model: FitModel, computing: Computing) -> int:
    """Values for each token in the widest step: feed-forward, or attention."""
    scores = 0 if computing.flash else computing.cells * model.n_heads
    return max(model.n_ff, model.n_attention + scores)


def _with_copies(model: FitModel, computing: Computing) -> int:
    """Bytes when attention or feed-forward are computed with copies of what lies in RAM."""
    row = computing.batch * _F32
    attention = computing.layer_cache + 3 * model.n_attention * row // 2 if computing.layer_cache else 0
    weight = computing.layer_weight + (2 * model.n_ff // 3 + 3 * model.width) * row if computing.layer_weight else 0
    return max(attention, weight)
