"""A small Gemma 2 made from nothing: every second layer sees a sliding window only."""

from __future__ import annotations

from typing import Any

from tests.fakes.tiny_gguf import GGML_F32, STR, U32, Shape, Tensor, gguf, llama_parts, ones

WINDOW = 32
"""Tokens that the layers with a window see."""

_SHAPE = Shape(embd=32, heads=4, ff=64, layers=2, context=512)


def windowed(seed: int = 1, /, *, window: int = WINDOW, **metadata: Any) -> bytes:
    """A whole model of about 0.2 MB that answers with random bytes."""
    kvs, tensors = llama_parts(_SHAPE, seed, name="windowed", **metadata)
    own = [(str(key).replace("llama.", "gemma2."), kind, value) for key, kind, value in kvs]
    own = [(key, kind, "gemma2" if key == "general.architecture" else value) for key, kind, value in own]
    own.append(("gemma2.attention.sliding_window", U32, window))
    kept = [tensor for tensor in tensors if tensor.name != "output.weight"]
    kept += [
        Tensor(f"blk.{layer}.{norm}.weight", (_SHAPE.embd,), GGML_F32, ones(_SHAPE.embd))
        for layer in range(_SHAPE.layers)
        for norm in ("post_attention_norm", "post_ffw_norm")
    ]
    assert ("general.architecture", STR, "gemma2") in own
    return gguf(own, kept)
