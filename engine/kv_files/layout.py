"""What a file of a KV cache looks like.

In this order: `MAGIC`, the length of the header (4 bytes, little-endian), the header (JSON), zeros up to `ALIGNMENT`,
the tokens (4 bytes each, little-endian), the state as llama.cpp gave it out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

MAGIC: Final = b"VRAMBLKV"
VERSION: Final = 1
ALIGNMENT: Final = 4096
CHUNK: Final = 8 << 20
"""Bytes that are written or checked between two looks at whether somebody waits."""

MOST_HEADER: Final = 4096


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself.

    Attributes:
        mark: Fingerprint of the load whose state this is: model, adapters, engine, device and options.
        tokens: How many.
        state: Bytes of the state.
        prefill_tps: Tokens a second that prompts were read with; 0 unknown.
        sha256: Of tokens and state.
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


def sha256_of(data: memoryview) -> str:
    """Checksum of tokens and state."""
    digest = hashlib.sha256()
    for chunk in chunks(data):
        digest.update(chunk)
    return digest.hexdigest()


def start_of(header: Header) -> bytes:
    """How a file with this ``header`` begins."""
    rough = msgspec.json.encode(header)
    return MAGIC + len(rough).to_bytes(4, "little") + rough
