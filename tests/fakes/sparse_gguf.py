"""Models of any architecture and size as sparse files: a real header, and weights that are all zero and take no disk.

llama.cpp loads them like any other; what they say means nothing, but the memory that they take is right.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from engine.library.gguf.tables import BLOCKS
from tests.fakes.tiny_gguf import ARR, F32, I32, NORMAL, STR, U16, U32, KeyValue, Value, byte_vocabulary, pack_string
from tests.fakes.tiny_gguf import gguf as pack_gguf

_TYPES = {name: number for number, (name, _, _) in BLOCKS.items()}
ALIGNMENT = 32


class Weight(NamedTuple):
    """A tensor without its data."""

    name: str
    dims: tuple[int, ...]
    kind: str = "F16"


def tensor_bytes(weight: Weight) -> int:
    """Its size in the file."""
    _, per_block, block_bytes = BLOCKS[_TYPES[weight.kind]]
    return math.prod(weight.dims) // per_block * block_bytes


def write_sparse(path: Path, kvs: Iterable[KeyValue], weights: Sequence[Weight]) -> Path:
    """A file with this header and zeros behind it."""
    pairs = list(kvs)
    entries, offset = [], 0
    for weight in weights:
        entries.append(pack_string(weight.name) + struct.pack(f"<I{len(weight.dims)}Q", len(weight.dims), *weight.dims))
        entries.append(struct.pack("<IQ", _TYPES[weight.kind], offset))
        offset += -(-tensor_bytes(weight) // ALIGNMENT) * ALIGNMENT
    header = pack_gguf(pairs, n_tensors=len(weights)) + b"".join(entries)
    header += bytes(-len(header) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + offset)
    return path


def vocabulary(size: int) -> dict[str, Value]:
    """Entries of a vocabulary of ``size`` tokens, at least 267."""
    texts, kinds = byte_vocabulary()
    texts += [f"token{number}" for number in range(size - len(texts))]
    kinds += [NORMAL] * (size - len(kinds))
    return {
        "tokenizer.ggml.model": (STR, "llama"),
        "tokenizer.ggml.tokens": (ARR, (STR, texts)),
        "tokenizer.ggml.scores": (ARR, (F32, [0.0] * len(texts))),
        "tokenizer.ggml.token_type": (ARR, (I32, kinds)),
        "tokenizer.ggml.bos_token_id": (U32, 1),
        "tokenizer.ggml.eos_token_id": (U32, 2),
    }


class Sizes(NamedTuple):
    """Dimensions of a transformer."""

    layers: int = 6
    width: int = 512
    heads: int = 8
    kv_heads: int = 8
    head: int = 64
    ff: int = 1536
    vocabulary: int = 8000
    context: int = 32768


DENSE = Sizes()
MIXED = Sizes(kv_heads=2, ff=512)
WINDOWED = Sizes(layers=12, heads=4, kv_heads=1, head=256)
LITE = Sizes(layers=27, ff=1024)
"""DeepSeek V2 Lite is known by its 27 layers."""


class Model(NamedTuple):
    """Entries and tensors, to be changed or written."""

    kvs: dict[str, Value]
    weights: list[Weight]

    def write(self, path: Path) -> Path:
        """The whole model in one file."""
        return write_sparse(path, [(key, *value) for key, value in self.kvs.items()], self.weights)

    def write_split(self, folder: Path, stem: str, count: int) -> Path:
        """The model in ``count`` parts; the path of the first."""
        bounds = [number * len(self.weights) // count for number in range(count + 1)]
        for number in range(count):
            split: dict[str, Value] = {
                "split.no": (U16, number),
                "split.count": (U16, count),
                "split.tensors.count": (I32, len(self.weights)),
            }
            kvs = {**(self.kvs if number == 0 else {}), **split}
            part = self.weights[bounds[number] : bounds[number + 1]]
            path = folder / f"{stem}-{number + 1:05d}-of-{count:05d}.gguf"
            write_sparse(path, [(key, *value) for key, value in kvs.items()], part)
        return folder / f"{stem}-00001-of-{count:05d}.gguf"


def entries(arch: str, sizes: Sizes, **more: Value) -> dict[str, Value]:
    """What every transformer has, and ``more`` below the architecture's name (``__`` stands for a dot)."""
    own: dict[str, Value] = {
        "context_length": (U32, sizes.context),
        "embedding_length": (U32, sizes.width),
        "block_count": (U32, sizes.layers),
        "feed_forward_length": (U32, sizes.ff),
        "attention.head_count": (U32, sizes.heads),
        "attention.head_count_kv": (U32, sizes.kv_heads),
        "attention.key_length": (U32, sizes.head),
        "attention.value_length": (U32, sizes.head),
        "attention.layer_norm_rms_epsilon": (F32, 1e-5),
        "rope.dimension_count": (U32, sizes.head),
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    return {
        "general.architecture": (STR, arch),
        "general.name": (STR, arch),
        **{f"{arch}.{name}": value for name, value in own.items()},
        **vocabulary(sizes.vocabulary),
    }


def attention(layer: int, sizes: Sizes, kind: str) -> list[Weight]:
    """Queries, keys, values, output and the norms of one layer."""
    width, inner, pairs = sizes.width, sizes.heads * sizes.head, sizes.kv_heads * sizes.head
    block = f"blk.{layer}"
    return [
        Weight(f"{block}.attn_norm.weight", (width,), "F32"),
        Weight(f"{block}.attn_q.weight", (width, inner), kind),
        Weight(f"{block}.attn_k.weight", (width, pairs), kind),
        Weight(f"{block}.attn_v.weight", (width, pairs), kind),
        Weight(f"{block}.attn_output.weight", (inner, width), kind),
        Weight(f"{block}.ffn_norm.weight", (width,), "F32"),
    ]


def feed_forward(layer: int, sizes: Sizes, kind: str) -> list[Weight]:
    """Gate, up and down of one layer."""
    block, width, ff = f"blk.{layer}", sizes.width, sizes.ff
    return [
        Weight(f"{block}.ffn_gate.weight", (width, ff), kind),
        Weight(f"{block}.ffn_up.weight", (width, ff), kind),
        Weight(f"{block}.ffn_down.weight", (ff, width), kind),
    ]


def expert_weights(layer: int, width: int, ff: int, count: int, kind: str) -> list[Weight]:
    """The router and all experts of one layer."""
    block = f"blk.{layer}"
    return [
        Weight(f"{block}.ffn_gate_inp.weight", (width, count), "F32"),
        Weight(f"{block}.ffn_gate_exps.weight", (width, ff, count), kind),
        Weight(f"{block}.ffn_up_exps.weight", (width, ff, count), kind),
        Weight(f"{block}.ffn_down_exps.weight", (ff, width, count), kind),
    ]


def ends(sizes: Sizes, kind: str, *, tied: bool) -> list[Weight]:
    """Embeddings, last norm and, unless they are ``tied``, output."""
    matrix = (sizes.width, sizes.vocabulary)
    found = [Weight("token_embd.weight", matrix, kind), Weight("output_norm.weight", (sizes.width,), "F32")]
    return found if tied else [*found, Weight("output.weight", matrix, kind)]


def llama(sizes: Sizes = DENSE, kind: str = "F16", *, tied: bool = False) -> Model:
    """A dense llama: MHA, or GQA with fewer ``kv_heads``."""
    weights = ends(sizes, kind, tied=tied)
    for layer in range(sizes.layers):
        weights += attention(layer, sizes, kind) + feed_forward(layer, sizes, kind)
    return Model(entries("llama", sizes), weights)


def moe(sizes: Sizes = MIXED, kind: str = "F16", *, experts: int = 8, used: int = 2) -> Model:
    """A llama whose feed-forward layers are mixtures of experts."""
    weights = ends(sizes, kind, tied=False)
    for layer in range(sizes.layers):
        weights += attention(layer, sizes, kind) + expert_weights(layer, sizes.width, sizes.ff, experts, kind)
    return Model(entries("llama", sizes, expert_count=(U32, experts), expert_used_count=(U32, used)), weights)


def gemma3(sizes: Sizes = WINDOWED, kind: str = "F16", window: int = 512) -> Model:
    """A Gemma 3: tied embeddings, and five layers of six with a window."""
    weights = ends(sizes, kind, tied=True)
    for layer in range(sizes.layers):
        weights += attention(layer, sizes, kind) + feed_forward(layer, sizes, kind)
        block = f"blk.{layer}"
        norms = {"post_attention_norm": sizes.width, "post_ffw_norm": sizes.width}
        norms |= {"attn_q_norm": sizes.head, "attn_k_norm": sizes.head}
        weights += [Weight(f"{block}.{norm}.weight", (size,), "F32") for norm, size in norms.items()]
    return Model(entries("gemma3", sizes, attention__sliding_window=(U32, window)), weights)


LATENT, ROPE, NOPE = 256, 64, 64


def deepseek2(sizes: Sizes = LITE, kind: str = "F16") -> Model:
    """A small DeepSeek V2 Lite: latent attention, one dense layer, then mixtures with a shared expert."""
    width, heads, experts, ff = sizes.width, sizes.heads, 4, 256
    weights = ends(sizes, kind, tied=False)
    for layer in range(sizes.layers):
        block = f"blk.{layer}"
        weights += [
            Weight(f"{block}.attn_norm.weight", (width,), "F32"),
            Weight(f"{block}.attn_kv_a_norm.weight", (LATENT,), "F32"),
            Weight(f"{block}.attn_q.weight", (width, heads * (NOPE + ROPE)), kind),
            Weight(f"{block}.attn_kv_a_mqa.weight", (width, LATENT + ROPE), kind),
            Weight(f"{block}.attn_k_b.weight", (NOPE, LATENT, heads), kind),
            Weight(f"{block}.attn_v_b.weight", (LATENT, sizes.head, heads), kind),
            Weight(f"{block}.attn_output.weight", (heads * sizes.head, width), kind),
            Weight(f"{block}.ffn_norm.weight", (width,), "F32"),
        ]
        if layer == 0:
            weights += feed_forward(layer, sizes, kind)
            continue
        weights += expert_weights(layer, width, ff, experts, kind)
        shared = {"gate": (width, ff), "up": (width, ff), "down": (ff, width)}
        weights += [Weight(f"{block}.ffn_{part}_shexp.weight", dims, kind) for part, dims in shared.items()]
    own: dict[str, Value] = {
        "attention__head_count_kv": (U32, 1),
        "attention__key_length": (U32, LATENT + ROPE),
        "attention__value_length": (U32, LATENT),
        "attention__key_length_mla": (U32, NOPE + ROPE),
        "attention__value_length_mla": (U32, sizes.head),
        "attention__kv_lora_rank": (U32, LATENT),
        "rope__dimension_count": (U32, ROPE),
        "leading_dense_block_count": (U32, 1),
        "expert_count": (U32, experts),
        "expert_used_count": (U32, 2),
        "expert_shared_count": (U32, 1),
        "expert_feed_forward_length": (U32, ff),
        "expert_weights_scale": (F32, 1.0),
    }
    return Model(entries("deepseek2", sizes, **own), weights)
