"""Image encoders (mmproj files) made from nothing: a SigLIP tower with the projector of Idefics3, seeded weights.

What libmtmd asks of such a file: ``clip_model_loader`` in ``tools/mtmd/clip.cpp`` of llama.cpp 0c1e57098.
"""

from __future__ import annotations

import math
import random
from typing import Any, NamedTuple

from tests.fakes.tiny_gguf import ARR, BOOL, F32, GGML_F32, STR, U32, KeyValue, Tensor, Value, gguf, noise


class Tower(NamedTuple):
    """Size of an encoder. ``image`` and ``patch`` are pixels a side; ``merge`` patches a side become one token."""

    width: int = 64
    heads: int = 4
    ff: int = 128
    layers: int = 2
    image: int = 64
    patch: int = 16
    merge: int = 2


TINY = Tower()


def mmproj(to_width: int, tower: Tower = TINY, seed: int = 3, /, **metadata: Value | None) -> bytes:
    """The file of an encoder for a text model of ``to_width``.

    ``metadata`` replaces entries by the last part of their names; None leaves one out.
    """
    return gguf(_entries(to_width, tower, metadata), _tensors(to_width, tower, random.Random(seed)))


def encoder_size(to_width: int, tower: Tower = TINY) -> int:
    """Bytes of all its tensors."""
    return sum(len(tensor.data) for tensor in _tensors(to_width, tower, None))


def _entries(to_width: int, tower: Tower, metadata: dict[str, Value | None]) -> list[KeyValue]:
    entries: dict[str, Any] = {
        "general.architecture": (STR, "clip"),
        "general.type": (STR, "mmproj"),
        "general.name": (STR, "tiny encoder"),
        "clip.has_vision_encoder": (BOOL, True),
        "clip.projector_type": (STR, "idefics3"),
        "clip.use_gelu": (BOOL, True),
        "clip.vision.image_size": (U32, tower.image),
        "clip.vision.patch_size": (U32, tower.patch),
        "clip.vision.embedding_length": (U32, tower.width),
        "clip.vision.feed_forward_length": (U32, tower.ff),
        "clip.vision.block_count": (U32, tower.layers),
        "clip.vision.projection_dim": (U32, to_width),
        "clip.vision.attention.head_count": (U32, tower.heads),
        "clip.vision.attention.layer_norm_epsilon": (F32, 1e-6),
        "clip.vision.projector.scale_factor": (U32, tower.merge),
        "clip.vision.image_mean": (ARR, (F32, [0.5, 0.5, 0.5])),
        "clip.vision.image_std": (ARR, (F32, [0.5, 0.5, 0.5])),
    }
    for name, value in metadata.items():
        entries[next(key for key in entries if key.rpartition(".")[2] == name)] = value
    return [(key, *value) for key, value in entries.items() if value is not None]


def _tensors(to_width: int, tower: Tower, rng: random.Random | None) -> list[Tensor]:
    def make(name: str, *dims: int) -> Tensor:
        count = math.prod(dims)
        return Tensor(name, dims, GGML_F32, bytes(4 * count) if rng is None else noise(rng, count))

    w = tower.width
    patches = (tower.image // tower.patch) ** 2
    tensors = [
        make("v.patch_embd.weight", tower.patch, tower.patch, 3, w),
        make("v.patch_embd.bias", w),
        make("v.position_embd.weight", w, patches),
        make("v.post_ln.weight", w),
        make("v.post_ln.bias", w),
        make("mm.model.fc.weight", w * tower.merge**2, to_width),
    ]
    for layer in range(tower.layers):
        for part, dims in {
            "attn_q": (w, w),
            "attn_k": (w, w),
            "attn_v": (w, w),
            "attn_out": (w, w),
            "ffn_up": (w, tower.ff),
            "ffn_down": (tower.ff, w),
        }.items():
            tensors += [make(f"v.blk.{layer}.{part}.weight", *dims), make(f"v.blk.{layer}.{part}.bias", dims[-1])]
        for part in ("ln1", "ln2"):
            tensors += [make(f"v.blk.{layer}.{part}.{kind}", w) for kind in ("weight", "bias")]
    return tensors
