"""Records with paths as MessagePack: a path is the bytes that the file system has, text or not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding of bytes that somebody damaged raises."""

_encoder = msgspec.msgpack.Encoder(enc_hook=lambda value: path_to_bytes(value))


def encode(value: object) -> bytes:
    """``value`` as MessagePack."""
    return _encoder.encode(value)


def decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Reads what `encode` made of a ``kind``; raises one of `BROKEN`."""
    return msgspec.msgpack.Decoder(kind, dec_hook=bytes_to_path)


def path_to_bytes(value: object) -> bytes:
    """For the encoder: it knows everything but paths."""
    if isinstance(value, Path):
        return os.fsencode(value)
    raise NotImplementedError(type(value))


def bytes_to_path(kind: type, value: object) -> Path:
    """For decoders."""
    if issubclass(kind, Path) and isinstance(value, bytes):
        return Path(os.fsdecode(value))
    raise NotImplementedError(kind)
