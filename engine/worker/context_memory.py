"""Whether weights and KV cache fit into the memory of this computer, asked before anything is loaded.

Only on the CPU: a context that is too long there takes the whole machine into swap for minutes. Drivers of GPUs
refuse, or move things to RAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from engine.errors import VrambleError
from engine.library.gguf import HeaderProblem
from engine.library.names import shard_name, shard_of
from engine.memory.fit import FitModel, read_model
from engine.memory.fit.sizes import STEP, whole_cache
from engine.memory.host import read_ram
from engine.memory.sizes import gib_number
from engine.memory.tree import Tree, sysroot
from engine.worker.plan import Plan

RESERVE: Final = 512 << 20
"""Bytes that stay available: buffers for computing, and everything else on the computer."""

SHORTEST: Final = 512
"""Tokens. Where not even this fits beside the weights, the context is not what is too large."""

_MOST_FOR_A_TOKEN: Final = 16
"""Bytes for each layer and value of the model's width: four times what full attention takes in f16."""


def check_context_memory(plan: Plan, tree: Tree | None = None) -> None:
    """Refuse a context whose KV cache does not fit beside the weights. What is not known is no reason to refuse.

    Args:
        tree: Where ``proc`` lies.

    Raises:
        VrambleError: ``context-memory`` with both sizes and the longest context that would fit.
    """
    available = None if plan.on_gpu else read_ram(tree or Tree(sysroot())).available
    n_ctx = plan.options.n_ctx or plan.header.context_length
    if available is None or not n_ctx:
        return
    room, weights = available - RESERVE, weight_bytes(plan)
    if _surely_fits(plan, n_ctx, room - weights):
        return
    model = read_model(plan.path)
    if isinstance(model, HeaderProblem) or not model.known_cache:
        return
    cache = _Cache(plan, model)
    if weights + cache.size(n_ctx) <= room:
        return
    if weights + cache.size(SHORTEST) > room and cache.size(n_ctx) <= room:
        return
    raise _too_long(n_ctx, cache, weights, room)


@dataclass(frozen=True)
class _Cache:
    """What the model keeps, for any context."""

    plan: Plan
    model: FitModel

    def size(self, n_ctx: int) -> int:
        """Bytes for ``n_ctx`` tokens."""
        return whole_cache(self.model, msgspec.structs.replace(self.plan.options, n_ctx=n_ctx))

    def longest(self, room: int, below: int) -> int:
        """The longest context under ``below`` tokens, a multiple of `STEP`, whose cache takes ``room``; 0: none."""
        low, high = 0, below // STEP
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.size(middle * STEP) <= room else (low, middle - 1)
        return low * STEP


def weight_bytes(plan: Plan) -> int:
    """Bytes of all tensors, over all parts of a split set."""
    part = shard_of(plan.path.name)
    if part is None or plan.header.split is None:
        return plan.header.tensor_bytes
    return sum(_size(plan.path.with_name(shard_name(part, no))) for no in range(1, part.total + 1))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _surely_fits(plan: Plan, n_ctx: int, room: int) -> bool:
    """Whether no model of this depth and width can need more; spares most loads reading the file's entries."""
    layers, width = plan.header.n_layers, plan.header.embedding_length
    return bool(layers and width) and n_ctx * (layers or 0) * (width or 0) * _MOST_FOR_A_TOKEN <= room


def _too_long(n_ctx: int, cache: _Cache, weights: int, room: int) -> VrambleError:
    need, longest = weights + cache.size(n_ctx), cache.longest(room - weights, n_ctx)
    message = (
        f"There is not enough memory for a context of {n_ctx} tokens: model and KV cache need {gib_number(need)} GiB,"
        f" and {gib_number(max(0, room))} GiB can be used."
    )
    step = (
        f"Choose a context length (n_ctx) of {longest} tokens or less, or close other programs."
        if longest >= SHORTEST
        else "Choose a smaller model, or close other programs."
    )
    detail = f"weights {weights} bytes, KV cache {cache.size(n_ctx)} bytes, usable {room} bytes"
    return VrambleError("context-memory", message, step, detail)
