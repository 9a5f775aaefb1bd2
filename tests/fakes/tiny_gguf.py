"""GGUF files made from nothing: a header writer that can also lie, and small llama models with seeded weights.

A metadata value is a pair ``(type, value)`` with a type from `Kind`; an array's value is the pair
``(item type, items)``. The writer checks nothing on purpose: damaged files are what it is for.
"""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple


class Kind(IntEnum):
    """Value types of GGUF metadata, numbered as in the file."""

    U8 = 0
    I8 = 1
    U16 = 2
    I16 = 3
    U32 = 4
    I32 = 5
    F32 = 6
    BOOL = 7
    STR = 8
    ARR = 9
    U64 = 10
    I64 = 11
    F64 = 12


U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = Kind

GGML_F32 = 0
GGML_F16 = 1

FORMATS = {
    U8: "<B",
    I8: "<b",
    U16: "<H",
    I16: "<h",
    U32: "<I",
    I32: "<i",
    F32: "<f",
    BOOL: "<?",
    U64: "<Q",
    I64: "<q",
    F64: "<d",
}

Value = tuple[int, Any]
KeyValue = tuple[str | bytes, int, Any]


class Tensor(NamedTuple):
    """One tensor: ``dims`` with the fastest-moving first, ``data`` as it lies in the file."""

    name: str
    dims: tuple[int, ...]
    ggml_type: int
    data: bytes


def pack_string(text: str | bytes) -> bytes:
    """Length and bytes. Surrogates pass, so that names that are no valid UTF-8 can be written."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(raw)) + raw


def pack_value(kind: int, value: Any) -> bytes:
    """One metadata value without its type word."""
    if kind == STR:
        return pack_string(value)
    if kind == ARR:
        item_kind, items = value
        return struct.pack("<IQ", item_kind, len(items)) + b"".join(pack_value(item_kind, item) for item in items)
    return struct.pack(FORMATS[Kind(kind)], value)


def gguf(
    kvs: Iterable[KeyValue],
    tensors: Sequence[Tensor | tuple[str, Sequence[int], int, bytes]] = (),
    *,
    version: int = 3,
    magic: bytes = b"GGUF",
    n_kv: int | None = None,
    n_tensors: int | None = None,
    align: int = 32,
) -> bytes:
    """A whole file. ``n_kv`` and ``n_tensors`` write another count than the true one."""
    pairs = list(kvs)
    parts = [
        struct.pack("<4sIQQ", magic, version, _or(n_tensors, len(tensors)), _or(n_kv, len(pairs))),
        *(pack_string(key) + struct.pack("<I", kind) + pack_value(kind, value) for key, kind, value in pairs),
    ]
    offset, blob = 0, []
    for name, dims, ggml_type, data in tensors:
        parts.append(pack_string(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
        parts.append(struct.pack("<IQ", ggml_type, offset))
        padded = data + bytes(-len(data) % align)
        blob.append(padded)
        offset += len(padded)
    header = b"".join(parts)
    if tensors:
        header += bytes(-len(header) % align)
    return header + b"".join(blob)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


SPECIAL_TEXTS = ("<unk>", "<s>", "</s>")
EXTRA_TEXTS = ("\u2581", "a", "b", "c", "<think>", "</think>", "<|im_start|>", "<|im_end|>")
BYTE_TEXTS = tuple(f"<0x{byte:02X}>" for byte in range(256))

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
"""Token types as in the file."""


def byte_vocabulary() -> tuple[list[str], list[int]]:
    """Texts and types of 267 tokens: three special ones, every byte, a few letters, tags, ChatML markers."""
    texts = [*SPECIAL_TEXTS, *BYTE_TEXTS, *EXTRA_TEXTS]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256]
    kinds += [NORMAL] * 4 + [USER_DEFINED] * 2 + [CONTROL] * 2
    return texts, kinds


class Shape(NamedTuple):
    """Size of a llama model."""

    embd: int
    heads: int
    ff: int
    layers: int
    context: int


TINY = Shape(embd=32, heads=4, ff=64, layers=1, context=512)
SCRIPTED = Shape(embd=64, heads=4, ff=64, layers=1, context=512)
SMALL = Shape(embd=256, heads=4, ff=512, layers=2, context=1024)


def llama_metadata(
    shape: Shape = TINY,
    *,
    template: str | None = None,
    tokens: Sequence[str] | None = None,
    name: str = "tiny",
    **overrides: Value | None,
) -> list[KeyValue]:
    """Metadata of a llama with a byte vocabulary. An override is a ``(type, value)`` pair; None leaves the key out."""
    texts, kinds = byte_vocabulary()
    if tokens is not None:
        texts, kinds = list(tokens), [NORMAL] * len(tokens)
    values: dict[str, Value] = {
        "general.architecture": (STR, "llama"),
        "general.name": (STR, name),
        "general.file_type": (U32, 0),
        "llama.context_length": (U32, shape.context),
        "llama.embedding_length": (U32, shape.embd),
        "llama.block_count": (U32, shape.layers),
        "llama.feed_forward_length": (U32, shape.ff),
        "llama.attention.head_count": (U32, shape.heads),
        "llama.attention.head_count_kv": (U32, shape.heads),
        "llama.attention.layer_norm_rms_epsilon": (F32, 1e-5),
        "llama.rope.dimension_count": (U32, shape.embd // shape.heads),
        "tokenizer.ggml.model": (STR, "llama"),
        "tokenizer.ggml.tokens": (ARR, (STR, texts)),
        "tokenizer.ggml.scores": (ARR, (F32, [0.0] * len(texts))),
        "tokenizer.ggml.token_type": (ARR, (I32, kinds)),
        "tokenizer.ggml.bos_token_id": (U32, 1),
        "tokenizer.ggml.eos_token_id": (U32, 2),
    }
    if template is not None:
        values["tokenizer.chat_template"] = (STR, template)
    for key, value in overrides.items():
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
    return [(key, kind, value) for key, (kind, value) in values.items()]


def llama_tensors(shape: Shape, n_vocab: int, seed: int) -> list[Tensor]:
    """Seeded F32 weights of a llama; norms are ones."""
    rng = random.Random(seed)
    embd, ff = shape.embd, shape.ff
    tensors = [
        Tensor("token_embd.weight", (embd, n_vocab), GGML_F32, noise(rng, embd * n_vocab)),
        Tensor("output_norm.weight", (embd,), GGML_F32, ones(embd)),
        Tensor("output.weight", (embd, n_vocab), GGML_F32, noise(rng, embd * n_vocab)),
    ]
    matrices = {
        "attn_q": (embd, embd),
        "attn_k": (embd, embd),
        "attn_v": (embd, embd),
        "attn_output": (embd, embd),
        "ffn_gate": (embd, ff),
        "ffn_up": (embd, ff),
        "ffn_down": (ff, embd),
    }
    for layer in range(shape.layers):
        norms = (f"blk.{layer}.{norm}.weight" for norm in ("attn_norm", "ffn_norm"))
        tensors.extend(Tensor(norm, (embd,), GGML_F32, ones(embd)) for norm in norms)
        for part, dims in matrices.items():
            data = noise(rng, math.prod(dims))
            tensors.append(Tensor(f"blk.{layer}.{part}.weight", dims, GGML_F32, data))
    return tensors


_SIGN_AND_EXPONENT = bytes((index & 0x80) | (0x3D if index & 1 else 0x3E) for index in range(256))


def noise(rng: random.Random, count: int) -> bytes:
    """``count`` F32 numbers of both signs with sizes from 0.03 to 0.5, made bytewise because that is fast."""
    raw = bytearray(rng.randbytes(4 * count))
    raw[3::4] = raw[3::4].translate(_SIGN_AND_EXPONENT)
    return bytes(raw)


def ones(count: int) -> bytes:
    """``count`` times 1.0 as F32."""
    return struct.pack("<f", 1.0) * count


def llama_parts(shape: Shape = TINY, seed: int = 1, /, **metadata: Any) -> tuple[list[KeyValue], list[Tensor]]:
    """Metadata and tensors, for tests that change one of them before `gguf`."""
    kvs = llama_metadata(shape, **metadata)
    values = {key: value for key, _, value in kvs}
    texts = values.get("tokenizer.ggml.tokens", (STR, byte_vocabulary()[0]))[1]
    return kvs, llama_tensors(shape, len(texts), seed)


def tiny_llama(seed: int = 1, /, **metadata: Any) -> bytes:
    """A whole model of about 0.1 MB that answers with random bytes. Keywords as in `llama_metadata`.

    Keys with dots are passed as ``tiny_llama(**{"general.architecture": (STR, "flux")})``.
    """
    return gguf(*llama_parts(TINY, seed, **metadata))


def small_llama(seed: int = 1, /, **metadata: Any) -> bytes:
    """A whole model of about 6 MB with heads of 64, a size that GPU kernels are made for."""
    return gguf(*llama_parts(SMALL, seed, **{"name": "small", **metadata}))


def byte_token(byte: int) -> int:
    """Id of a byte in `byte_vocabulary`."""
    return len(SPECIAL_TEXTS) + byte


def extra_token(text: str) -> int:
    """Id of one of `EXTRA_TEXTS` in `byte_vocabulary`."""
    return len(SPECIAL_TEXTS) + 256 + EXTRA_TEXTS.index(text)


SCRIPT_END = 2
"""``</s>``, the end of a script."""


def scripted_llama(script: Sequence[int], **metadata: Any) -> bytes:
    """A model that says ``script`` when it is greedy: each token leads to the next one, whatever came before.

    Args:
        script: Token ids, each at most once; the first is the last token of the prompt. Up to `SCRIPTED.embd` of them.
    """
    kvs, tensors = llama_parts(SCRIPTED, 1, **metadata)
    embd = SCRIPTED.embd
    vectors = {"token_embd.weight": dict(zip(script, range(embd), strict=False))}
    vectors["output.weight"] = {token: place for place, token in enumerate(script[1:])}
    silent = ("attn_output.weight", "ffn_down.weight")

    def changed(tensor: Tensor) -> Tensor:
        if tensor.name.endswith(silent):
            return tensor._replace(data=bytes(len(tensor.data)))
        if tensor.name in vectors:
            return tensor._replace(data=unit_rows(tensor.dims, vectors[tensor.name]))
        return tensor

    return gguf(kvs, [changed(tensor) for tensor in tensors])


def unit_rows(dims: tuple[int, ...], places: Mapping[int, int]) -> bytes:
    """A matrix of zeros, but row ``token`` has a 1.0 at ``places[token]``."""
    width, rows = dims
    data = bytearray(4 * width * rows)
    for row, place in places.items():
        struct.pack_into("<f", data, 4 * (row * width + place), 1.0)
    return bytes(data)


def split_set(count: int = 3, *, first_empty: bool = False, stem: str = "big") -> dict[str, bytes]:
    """`tiny_llama` in ``count`` shards: file name to bytes. ``first_empty``: shard 1 holds metadata only."""
    kvs, tensors = llama_parts()
    filled = count - first_empty
    bounds = [index * len(tensors) // filled for index in range(filled + 1)]
    groups = [tensors[start:end] for start, end in itertools.pairwise(bounds)]
    if first_empty:
        groups.insert(0, [])
    files = {}
    for index, group in enumerate(groups):
        split: list[KeyValue] = [
            ("split.no", U16, index),
            ("split.count", U16, count),
            ("split.tensors.count", I32, len(tensors)),
        ]
        files[f"{stem}-{index + 1:05d}-of-{count:05d}.gguf"] = gguf((kvs if index == 0 else []) + split, group)
    return files
