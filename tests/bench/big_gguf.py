"""Models of true size made from nothing: Q4_0 llamas with random, finite weights, for machines without a network.

Speed and memory depend on shapes only, so random weights measure as well as trained ones.

    .venv/bin/python -m tests.bench.big_gguf 7B FILE
"""

from __future__ import annotations

import argparse
import math
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from tests.fakes.tiny_gguf import (
    ARR,
    BYTE,
    CONTROL,
    F32,
    GGML_F32,
    I32,
    NORMAL,
    STR,
    U32,
    UNKNOWN,
    KeyValue,
    gguf,
    pack_string,
)

GGML_Q4_0: Final = 2
MOSTLY_Q4_0: Final = 2
"""``general.file_type``."""

BLOCK_VALUES, BLOCK_BYTES = 32, 18
"""A block of Q4_0: one f16 scale, then 32 values of 4 bits. Value = scale * (bits - 8)."""

Q4_0_DEVIATION: Final = math.sqrt((16**2 - 1) / 12)
"""Standard deviation of evenly spread 4-bit values."""

POOL_BLOCKS: Final = 1 << 21
"""Random blocks made once (36 MiB); tensors are cut from them at random places."""

ALIGNMENT: Final = 32
TEMPLATE: Final = "{% for message in messages %}{{ message.content }}{% endfor %}"


@dataclass(frozen=True)
class BigShape:
    """Size of a llama model. ``vocab`` counts the special tokens and bytes too; ``kv_heads``: 0: as many as heads."""

    name: str
    embd: int
    ff: int
    heads: int
    layers: int
    vocab: int
    context: int = 4096
    kv_heads: int = 0

    @property
    def kv_embd(self) -> int:
        """Length of the keys of one token in one layer."""
        return self.embd // self.heads * (self.kv_heads or self.heads)

    @property
    def parameters(self) -> int:
        """Weights in all matrices and norms."""
        return sum(math.prod(dims) for _, dims in tensor_shapes(self))


SHAPES: Final = {
    shape.name: shape
    for shape in (
        BigShape("7B", embd=4096, ff=11008, heads=32, layers=32, vocab=32000),
        BigShape("8B", embd=4096, ff=14336, heads=32, layers=32, vocab=128256, kv_heads=8, context=8192),
        BigShape("163M", embd=768, ff=3072, heads=12, layers=12, vocab=32000),
        BigShape("163M-152k", embd=768, ff=3072, heads=12, layers=12, vocab=152064),
        BigShape("tiny", embd=256, ff=512, heads=4, layers=2, vocab=512),
    )
}


def numbered_words(count: int, first: int = 0) -> str:
    """A text of ``count`` words that are one token each in these models."""
    return "".join(f" w{first + number % 200}" for number in range(count))


def vocabulary(size: int) -> tuple[list[str], list[int]]:
    """Texts and types: special tokens, all bytes, then ``w``, ``w0``, ``w1``, ... with the mark of a word's start.

    The start of each word is a word, so that the tokenizer can put them together pair by pair.
    """
    texts = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", "w", "\u2581w"]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, NORMAL, NORMAL, NORMAL]
    texts += [str(digit) for digit in range(10)]
    texts += [f"\u2581w{number}" for number in range(size - len(texts))]
    return texts, kinds + [NORMAL] * (size - len(kinds))


def tensor_shapes(shape: BigShape) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and dims, the fastest-moving first."""
    yield "token_embd.weight", (shape.embd, shape.vocab)
    for layer in range(shape.layers):
        for part, width in (
            ("attn_q", shape.embd),
            ("attn_k", shape.kv_embd),
            ("attn_v", shape.kv_embd),
            ("attn_output", shape.embd),
        ):
            yield f"blk.{layer}.{part}.weight", (shape.embd, width)
        yield f"blk.{layer}.ffn_gate.weight", (shape.embd, shape.ff)
        yield f"blk.{layer}.ffn_up.weight", (shape.embd, shape.ff)
        yield f"blk.{layer}.ffn_down.weight", (shape.ff, shape.embd)
        yield f"blk.{layer}.attn_norm.weight", (shape.embd,)
        yield f"blk.{layer}.ffn_norm.weight", (shape.embd,)
    yield "output_norm.weight", (shape.embd,)
    yield "output.weight", (shape.embd, shape.vocab)


def metadata(shape: BigShape) -> list[KeyValue]:
    """The entries of the file."""
    texts, kinds = vocabulary(shape.vocab)
    numbers = {
        "general.file_type": MOSTLY_Q4_0,
        "llama.context_length": shape.context,
        "llama.embedding_length": shape.embd,
        "llama.block_count": shape.layers,
        "llama.feed_forward_length": shape.ff,
        "llama.attention.head_count": shape.heads,
        "llama.attention.head_count_kv": shape.kv_heads or shape.heads,
        "llama.rope.dimension_count": shape.embd // shape.heads,
        "llama.vocab_size": shape.vocab,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }
    return [
        ("general.architecture", STR, "llama"),
        ("general.name", STR, f"random {shape.name}"),
        *((key, U32, value) for key, value in numbers.items()),
        ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        ("tokenizer.ggml.model", STR, "llama"),
        ("tokenizer.ggml.tokens", ARR, (STR, texts)),
        ("tokenizer.ggml.scores", ARR, (F32, [0.0] * len(texts))),
        ("tokenizer.ggml.token_type", ARR, (I32, kinds)),
        ("tokenizer.chat_template", STR, TEMPLATE),
    ]


def write_model(path: Path, shape: BigShape, seed: int = 1) -> int:
    """Write a whole model; returns its size in bytes. Needs about 100 MB of memory, whatever the shape."""
    shapes = list(tensor_shapes(shape))
    with path.open("wb") as file:
        file.write(_header(shape, shapes))
        writer = _Writer(file, seed)
        for _, dims in shapes:
            if len(dims) == 1:
                file.write(np.ones(dims[0], np.float32).tobytes())
            else:
                writer.matrix(dims)
            file.write(bytes(-file.tell() % ALIGNMENT))
        return file.tell()


def tensor_bytes(dims: tuple[int, ...]) -> int:
    """Bytes of a matrix in Q4_0, of a vector in F32."""
    count = math.prod(dims)
    return 4 * count if len(dims) == 1 else count // BLOCK_VALUES * BLOCK_BYTES


def _header(shape: BigShape, shapes: list[tuple[str, tuple[int, ...]]]) -> bytes:
    """The start of the file up to the first tensor's data, padded."""
    head = bytearray(gguf(metadata(shape), n_tensors=len(shapes)))
    offset = 0
    for name, dims in shapes:
        kind = GGML_F32 if len(dims) == 1 else GGML_Q4_0
        head += pack_string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
        offset += tensor_bytes(dims) + -tensor_bytes(dims) % ALIGNMENT
    return bytes(head) + bytes(-len(head) % ALIGNMENT)


class _Writer:
    """Random Q4_0 matrices whose products keep their size: deviation 1 / sqrt(inputs)."""

    def __init__(self, file: BinaryIO, seed: int) -> None:
        self._file = file
        self._rng = np.random.default_rng(seed)
        self._pool = self._rng.integers(0, 256, (POOL_BLOCKS, BLOCK_BYTES), np.uint8)

    def matrix(self, dims: tuple[int, ...]) -> None:
        scale = np.float16(1.0 / (Q4_0_DEVIATION * math.sqrt(dims[0])))
        self._pool[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
        left = math.prod(dims) // BLOCK_VALUES
        while left:
            start = int(self._rng.integers(0, POOL_BLOCKS // 2))
            part = self._pool[start : start + min(left, POOL_BLOCKS // 2)]
            self._file.write(part.data)
            left -= len(part)


def main() -> None:
    """Write one model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    begin = time.monotonic()
    size = write_model(options.file, SHAPES[options.shape])
    print(f"{options.file}: {size / 1e9:.2f} GB in {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
