"""More small models out of `tests.fakes.tiny_gguf`: a mixture of experts, and LoRA adapters."""

from __future__ import annotations

import math
import random
from typing import Any

from tests.fakes.tiny_gguf import (
    F32,
    GGML_F32,
    STR,
    U32,
    Shape,
    Tensor,
    Value,
    gguf,
    llama_parts,
    noise,
)

EXPERTS = 4
MOE = Shape(embd=128, heads=2, ff=256, layers=3, context=512)
"""Heads of 64, and experts that weigh more than the rest."""

MOE_EXPERT_BYTES = 3 * EXPERTS * MOE.embd * MOE.ff * 4
"""Bytes of the experts in one layer of `moe_llama`."""

_DENSE = ("ffn_gate.weight", "ffn_up.weight", "ffn_down.weight")


def moe_llama(seed: int = 1, /, **metadata: Any) -> bytes:
    """A llama of about 5 MB with four experts in each layer, of which two are used."""
    counts: dict[str, Value] = {"llama.expert_count": (U32, EXPERTS), "llama.expert_used_count": (U32, 2)}
    kvs, tensors = llama_parts(MOE, seed, **{"name": "moe", **counts, **metadata})
    rng = random.Random(seed)
    kept = [tensor for tensor in tensors if not tensor.name.endswith(_DENSE)]
    for layer in range(MOE.layers):
        kept += [
            Tensor(f"blk.{layer}.{part}.weight", dims, GGML_F32, noise(rng, math.prod(dims)))
            for part, dims in {
                "ffn_gate_inp": (MOE.embd, EXPERTS),
                "ffn_gate_exps": (MOE.embd, MOE.ff, EXPERTS),
                "ffn_up_exps": (MOE.embd, MOE.ff, EXPERTS),
                "ffn_down_exps": (MOE.ff, MOE.embd, EXPERTS),
            }.items()
        ]
    return gguf(kvs, kept)


RANK = 4


def lora_adapter(shape: Shape, seed: int = 7, /, **overrides: Any) -> bytes:
    """A LoRA for a llama of this shape, on the query and output matrices of each layer.

    An override is a ``(type, value)`` pair; None leaves the key out.
    """
    rng = random.Random(seed)
    tensors = [
        Tensor(f"blk.{layer}.{part}.weight.lora_{side}", dims, GGML_F32, noise(rng, math.prod(dims)))
        for layer in range(shape.layers)
        for part in ("attn_q", "attn_output")
        for side, dims in (("a", (shape.embd, RANK)), ("b", (RANK, shape.embd)))
    ]
    values: dict[str, Value | None] = {
        "general.architecture": (STR, "llama"),
        "general.type": (STR, "adapter"),
        "adapter.type": (STR, "lora"),
        "adapter.lora.alpha": (F32, 8.0),
        **overrides,
    }
    return gguf([(key, *value) for key, value in values.items() if value is not None], tensors)
