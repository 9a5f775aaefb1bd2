"""A small Mamba made from nothing: a model with a recurrent state in place of a KV cache."""

from __future__ import annotations

import math
import random
from typing import Any

from tests.fakes.tiny_gguf import (
    F32,
    GGML_F32,
    STR,
    TINY,
    U32,
    Tensor,
    Value,
    byte_vocabulary,
    gguf,
    llama_metadata,
    noise,
    ones,
)

EMBD, LAYERS, INNER, CONV, STATE, RANK = 32, 2, 64, 4, 16, 8


def mamba(seed: int = 1, /, **metadata: Any) -> bytes:
    """A whole model of about 0.2 MB that answers with random bytes."""
    values: dict[str, Value] = {
        "general.architecture": (STR, "mamba"),
        "mamba.context_length": (U32, 512),
        "mamba.embedding_length": (U32, EMBD),
        "mamba.feed_forward_length": (U32, 0),
        "mamba.block_count": (U32, LAYERS),
        "mamba.attention.head_count": (U32, 0),
        "mamba.attention.layer_norm_rms_epsilon": (F32, 1e-5),
        "mamba.ssm.conv_kernel": (U32, CONV),
        "mamba.ssm.inner_size": (U32, INNER),
        "mamba.ssm.state_size": (U32, STATE),
        "mamba.ssm.time_step_rank": (U32, RANK),
    }
    kvs = [kv for kv in llama_metadata(TINY, name="recurrent") if not str(kv[0]).startswith(("llama.", "general.arch"))]
    kvs += [(key, kind, value) for key, (kind, value) in {**values, **metadata}.items()]
    rng = random.Random(seed)
    n_vocab = len(byte_vocabulary()[0])

    def random_tensor(name: str, *dims: int) -> Tensor:
        return Tensor(name, dims, GGML_F32, noise(rng, math.prod(dims)))

    tensors = [
        random_tensor("token_embd.weight", EMBD, n_vocab),
        Tensor("output_norm.weight", (EMBD,), GGML_F32, ones(EMBD)),
        random_tensor("output.weight", EMBD, n_vocab),
    ]
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors += [
            Tensor(f"{block}attn_norm.weight", (EMBD,), GGML_F32, ones(EMBD)),
            random_tensor(f"{block}ssm_in.weight", EMBD, 2 * INNER),
            random_tensor(f"{block}ssm_conv1d.weight", CONV, INNER),
            random_tensor(f"{block}ssm_conv1d.bias", INNER),
            random_tensor(f"{block}ssm_x.weight", INNER, RANK + 2 * STATE),
            random_tensor(f"{block}ssm_dt.weight", RANK, INNER),
            random_tensor(f"{block}ssm_dt.bias", INNER),
            Tensor(f"{block}ssm_a", (STATE, INNER), GGML_F32, _negative(noise(rng, STATE * INNER))),
            Tensor(f"{block}ssm_d", (INNER,), GGML_F32, ones(INNER)),
            random_tensor(f"{block}ssm_out.weight", INNER, EMBD),
        ]
    return gguf(kvs, tensors)


def _negative(data: bytes) -> bytes:
    """The same F32 numbers below zero: a state that decays."""
    raw = bytearray(data)
    raw[3::4] = bytes(byte | 0x80 for byte in raw[3::4])
    return bytes(raw)
