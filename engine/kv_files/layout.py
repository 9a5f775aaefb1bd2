"""What a file of a KV cache looks like.

In this order: `MAGIC`, the length of the header (4 bytes, little-endian), the header (JSON), zeros up to `ALIGNMENT`,
the tokens (4 bytes each, little-endian), the state as llama.cpp gave it out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

MAGIC: Final = b"VRAMBLKV"
VERSION: Final = 2
ALIGNMENT: Final = 4096
CHUNK: Final = 8 << 20
"""Bytes that are written or checked between two looks at whether somebody waits."""

MOST_HEADER: Final = 4096
MOST_THREADS: Final = 8
"""For a checksum. Memory is not read faster by more."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself.

    Attributes:
        mark: Fingerprint of the load whose state this is: model, adapters, engine, device and options.
        tokens: How many.
        state: Bytes of the state.
        prefill_tps: Tokens a second that prompts were read with; 0 unknown.
        sha256: `Checksum` of tokens and state.
    """

    version: int
    mark: str
    tokens: int
    state: int
    prefill_tps: float
    sha256: str


@dataclass(frozen=True)
class Stored:
    """A file that was found; its header is sane, its content was not looked at."""

    path: Path
    header: Header
    begin: int
    """Where the tokens begin, bytes."""


def sane(path: Path, start: bytes, size: int, mark: str) -> Stored | None:
    """A file that begins with ``start`` and has ``size`` bytes, if it is one of the load with this ``mark``."""
    offset = len(MAGIC) + 4
    length = int.from_bytes(start[len(MAGIC) : offset], "little")
    if start[: len(MAGIC)] != MAGIC or not 0 < length <= ALIGNMENT - offset:
        return None
    try:
        header = msgspec.json.decode(start[offset : offset + length], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    whole = header.version == VERSION and header.mark == mark and header.tokens > 0 and header.state > 0
    if not whole or size != ALIGNMENT + 4 * header.tokens + header.state:
        return None
    return Stored(path, header, ALIGNMENT)


def chunks(data: memoryview) -> Iterator[memoryview]:
    """Pieces of at most `CHUNK` bytes."""
    return (data[begin : begin + CHUNK] for begin in range(0, len(data), CHUNK))


def pieces(tokens: memoryview, state: memoryview) -> Iterator[memoryview]:
    """What is summed piece by piece: the tokens as one, the state in chunks."""
    yield tokens
    yield from chunks(state)


class Checksum:
    """Of tokens and state: the SHA-256 of the SHA-256 sums of all `pieces`, which can so be summed side by side."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()

    def add(self, piece: memoryview) -> None:
        """The next piece."""
        self._whole.update(hashlib.sha256(piece).digest())

    def hexdigest(self) -> str:
        """As the header has it."""
        return self._whole.hexdigest()


def sha256_of(tokens: memoryview, state: memoryview) -> str:
    """`Checksum` of all pieces, by several threads: half a GB takes one of them 0.3 s."""
    whole = hashlib.sha256()
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for digest in pool.map(lambda piece: hashlib.sha256(piece).digest(), pieces(tokens, state)):
            whole.update(digest)
    return whole.hexdigest()


def start_of(header: Header) -> bytes:
    """How a file with this ``header`` begins."""
    rough = msgspec.json.encode(header)
    return MAGIC + len(rough).to_bytes(4, "little") + rough
