"""Model files that are wrong in one way each: what the header reader refuses, and what only native code meets."""

from __future__ import annotations

import struct
from typing import Any

from tests.fakes.tiny_gguf import (
    ARR,
    F32,
    I32,
    STR,
    U8,
    U32,
    Tensor,
    byte_vocabulary,
    gguf,
    llama_parts,
    split_set,
    tiny_llama,
)

BYTES = byte_vocabulary()[0][3:259]
BEYOND = (U32, 0xFFFFFFFF)
"""A token id outside of every vocabulary."""


def changed(**metadata: Any) -> bytes:
    """The small model with other entries; ``__`` stands for a dot, None leaves an entry out."""
    return tiny_llama(**{key.replace("__", "."): value for key, value in metadata.items()})


def with_tensor(name: str, **change: Any) -> bytes:
    """The small model with one tensor described in another way."""
    kvs, tensors = llama_parts()
    return gguf(kvs, [t._replace(**change) if t.name == name else t for t in tensors])


def with_key_length(length: int) -> bytes:
    """A header whose first name announces ``length`` bytes."""
    return struct.pack("<4sIQQQ", b"GGUF", 3, 0, 1, length) + b"name and more"


def with_list_length(count: int) -> bytes:
    """A header with a list of bytes that announces ``count`` of them."""
    return struct.pack("<4sIQQQ", b"GGUF", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", ARR, U8, count)


REFUSED: dict[str, tuple[bytes, str, str]] = {
    "1 empty key": (gguf([("", U8, 0)]), "damaged-file", "without a name"),
    "1 empty key, whole model": (gguf([("", U8, 0), *llama_parts()[0]], llama_parts()[1]), "damaged-file", "a name"),
    "4 entries": (gguf([], n_kv=1 << 61), "damaged-file", "impossible number"),
    "4 key length": (with_key_length(1 << 63), "damaged-file", "impossible length"),
    "4 list length": (with_list_length(1 << 40), "damaged-file", ""),
    "4 dimensions": (gguf([], [Tensor("t", (32, (1 << 42) + 1), 0, b"")]), "damaged-file", ""),
    "5 cut in the weights": (tiny_llama()[:-5000], "cut-file", "incomplete"),
    "5 cut in the entries": (tiny_llama()[:2000], "cut-file", "only the beginning"),
    "5 cut to 24 bytes": (tiny_llama()[:24], "cut-file", "only the beginning"),
    "7 version 1": (gguf([], version=1), "gguf-version", "version 1"),
    "7 big-endian": (gguf([], version=0x03000000), "gguf-byte-order", "big-endian"),
    "7 GGML": (b"tjgg" + bytes(200), "ggml-format", "GGML"),
    "7 version 99": (gguf([], version=99), "gguf-too-new", "99"),
    "8 flux": (changed(general__architecture=(STR, "flux")), "unknown-architecture", "architecture flux"),
    "8 empty": (changed(general__architecture=(STR, "")), "unknown-architecture", "no known architecture"),
    "8 none": (changed(general__architecture=None), "unknown-architecture", "no known architecture"),
    "8 of another kind": (changed(general__architecture=(U32, 1)), "load-failed", "wrong type"),
    "8 embeddings": (changed(general__architecture=(STR, "bert")), "load-failed", "bert"),
    "11 projector": (changed(general__architecture=(STR, "clip")), "not-a-chat-model", "projector"),
    "13 no merges": (changed(tokenizer__ggml__model=(STR, "gpt2")), "load-failed", "merges"),
    "14 scores": (changed(tokenizer__ggml__scores=(ARR, (F32, [0.0] * 3))), "damaged-file", "scores"),
    "14 types": (changed(tokenizer__ggml__token_type=(ARR, (I32, [1]))), "damaged-file", "token"),
    "no vocabulary": (changed(tokenizer__ggml__tokens=None), "load-failed", "vocab"),
    "heads that do not divide": (changed(llama__attention__head_count=(U32, 5)), "load-failed", "n_rot"),
    "no heads": (changed(llama__attention__head_count=(U32, 0)), "load-failed", "attn_q"),
    "more layers than tensors": (changed(llama__block_count=(U32, 2)), "load-failed", "blk.1"),
    "shape of a tensor": (with_tensor("blk.0.attn_q.weight", dims=(32, 16)), "damaged-file", "blk.0.attn_k"),
    "type of a tensor": (with_tensor("blk.0.attn_q.weight", ggml_type=31), "gguf-too-new", "31"),
}
"""What it is -> file, code, words of the sentence. Numbers are those of the table of cases."""

FATAL: dict[str, tuple[bytes, frozenset[str]]] = {
    "2 two tokens with one text": (tiny_llama(tokens=["a", "b", "a", *BYTES]), frozenset({"engine-assert"})),
    "no tokens for bytes": (
        tiny_llama(tokens=["<unk>", "<s>", "</s>", "a", "b"]),
        frozenset({"worker-aborted", "engine-assert"}),
    ),
    "epsilon that is no number": (
        changed(llama__attention__layer_norm_rms_epsilon=(F32, float("nan"))),
        frozenset({"engine-assert"}),
    ),
    "a thousand experts": (changed(llama__expert_count=(U32, 1000)), frozenset({"engine-assert"})),
    "whole numbers as weights": (
        with_tensor("blk.0.attn_q.weight", ggml_type=26),
        frozenset({"worker-crashed", "engine-assert"}),
    ),
}
"""Files that end the process inside llama.cpp 0.3.36's bindings -> file, codes its end may have."""

USABLE: dict[str, bytes] = {
    "13 end beyond the vocabulary": changed(tokenizer__ggml__eos_token_id=BEYOND),
    "13 start beyond the vocabulary": changed(tokenizer__ggml__bos_token_id=BEYOND),
    "13 no end given": changed(
        tokenizer__ggml__model=(STR, "gpt2"),
        tokenizer__ggml__merges=(ARR, (STR, ["a b", "b c"])),
        tokenizer__ggml__eos_token_id=None,
        tokenizer__ggml__bos_token_id=None,
    ),
    "no context length": changed(llama__context_length=(U32, 0)),
    "an endless context length": changed(llama__context_length=BEYOND),
    "17 no template": tiny_llama(),
    "17 an empty template": tiny_llama(template=""),
}
"""Odd files that work, with a warning."""

NO_NUMBERS: dict[str, bytes] = {
    "weights that are no numbers": with_tensor(
        "token_embd.weight", data=struct.pack("<f", float("nan")) * (32 * len(byte_vocabulary()[0]))
    ),
    "endless weights": with_tensor(
        "output.weight", data=struct.pack("<f", float("inf")) * (32 * len(byte_vocabulary()[0]))
    ),
}
"""Files that load and compute nonsense."""


def split_without(number: int) -> dict[str, bytes]:
    """Three parts of a model, one of them missing: file name to bytes."""
    parts = split_set(3)
    return {name: data for name, data in parts.items() if f"-{number:05d}-of-" not in name}
