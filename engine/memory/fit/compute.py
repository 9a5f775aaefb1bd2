"""A formula for compute buffers, for when llama.cpp itself has not been asked.

The buffer of a device is as large as the tensors of the micro-batch that are alive at the same time. The formula takes
the masks of attention, the widest feed-forward step and the scores; its constants are fitted to dry runs.
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
        flash: Scores are never written out.
        kv_in_ram: Attention is computed by the processor.
        experts_in_ram: Experts are computed by the processor, or copied to the GPU for large batches.
    """

    batch: int
    cells: int
    flash: bool
    kv_in_ram: bool = False
    experts_in_ram: bool = False


def compute_bytes(model: FitModel, computing: Computing, layout: Layout) -> list[int]:
    """Bytes for each device of ``layout``, the processor last."""
    masks, row = _masks(model, computing), computing.batch * _F32
    steps, stream = _step(model, computing) * row, 2 * model.width * row
    used = set(layout.of_layer)
    if not layout.gpu_layers:
        return [masks + steps + 2 * stream]
    return [
        masks + stream + (steps if number != layout.cpu or number in used else 0)
        for number in range(len(layout.devices))
    ]


def _masks(model: FitModel, computing: Computing) -> int:
    """Bytes of the attention masks: one for the whole context, one for the windows."""
    windows = {cache.window for cache in model.caches if cache.keys}
    lengths = [computing.cells if not window else min(computing.cells, window + computing.batch) for window in windows]
    return sum(lengths) * computing.batch * (_F16 if computing.flash else _F32)


def _step(model: FitModel, computing: Computing) -> int:
    """Values for each token in the widest step: feed-forward (gate, up and their product), or attention."""
    feed_forward = 3 * model.n_ff
    attention = 2 * model.n_heads * model.head_size
    scores = 0 if computing.flash else computing.cells * model.n_heads * 2
    return max(feed_forward, attention + scores)
