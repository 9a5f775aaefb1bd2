"""Layers that keep a state of fixed size instead of, or beside, a cache for each token.

Source: ``n_embd_r`` and ``n_embd_s`` in ``src/llama-hparams.cpp``, the layer filters of ``create_memory`` in
``src/llama-model.cpp`` (llama.cpp 0c1e57098).
"""

from __future__ import annotations

from typing import Final

from engine.library.gguf.metadata import Metadata
from engine.memory.fit.shape import Shape, bounded

_F32: Final = 4
_ALL_LAYERS: Final = frozenset(["mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"])
_BOTH: Final = frozenset({"falcon-h1"})
_WHERE_NO_HEADS: Final = frozenset(
    ["jamba", "plamo2", "granitehybrid", "lfm2", "lfm2moe", "kimi-linear", "bailingmoe3", "kimi-k3", "glm5-next"]
)
_WHERE_NO_HEADS_NOR_FF: Final = frozenset(["nemotron_h", "nemotron_h_moe"])
_INTERVALS: Final = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4, "minimax-01": 8}
"""One layer of so many attends; the others are recurrent."""

_TOKEN_SHIFTS: Final = 2
_CONVOLUTION: Final = 4


def is_recurrent(shape: Shape, layer: int) -> tuple[bool, bool]:
    """Whether the layer keeps a state, and whether it keeps keys and values."""
    arch = shape.architecture
    if arch in _ALL_LAYERS:
        return True, False
    if arch in _BOTH:
        return True, True
    if arch in _WHERE_NO_HEADS:
        recurrent = shape.kv_heads[layer] == 0
        return recurrent, not recurrent
    if arch in _WHERE_NO_HEADS_NOR_FF:
        plain = shape.ff[layer] == 0
        recurrent = plain and shape.kv_heads[layer] == 0
        return recurrent, plain and not recurrent
    if arch in _INTERVALS:
        if shape.recurrent_layers:
            recurrent = bool(shape.recurrent_layers[layer])
        else:
            recurrent = (layer + 1) % (shape.attention_interval or _INTERVALS[arch]) != 0
        return recurrent, not recurrent
    return False, True


def state_bytes(metadata: Metadata, shape: Shape) -> int:
    """Bytes of the state of one recurrent layer for one sequence, kept in F32."""

    def count(name: str, default: int = 0) -> int:
        found = metadata.count(f"{shape.architecture}.{name}")
        return default if found is None else bounded(found)

    if wkv := count("wkv.head_size"):
        return (count("token_shift_count", _TOKEN_SHIFTS) + wkv) * shape.width * _F32
    convolution, inner, states = count("ssm.conv_kernel"), count("ssm.inner_size"), count("ssm.state_size")
    if short := count("shortconv.l_cache"):
        return (shape.width * (short - 1) + states * inner) * _F32
    if head := count("kda.head_dim"):
        rows = 3 * ((convolution or _CONVOLUTION) - 1)
        return (rows + head) * head * shape.heads[0] * _F32
    if shape.architecture == "minimax-01":
        return shape.key * shape.key * shape.heads[0] * _F32
    conv = max(0, convolution - 1) * (inner + 2 * count("ssm.group_count") * states)
    return (conv + states * inner) * _F32
