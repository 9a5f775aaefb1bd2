"""Where a downloaded model came from: a small hidden file beside it, ``.x.gguf.json``."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What was known when the download ended.

    Attributes:
        sha256: Of the bytes that were written.
        blocks: CRC-32 of each MiB of them, little-endian: tells where a file was damaged (`engine.downloads.blocks`).
    """

    repo: str = ""
    commit: str | None = None
    path: str = ""
    size: int | None = None
    sha256: str | None = None
    verified: bool = False
    blocks: bytes = b""


def origin_name(file_name: str) -> str:
    """Name of the origin of a file of that name."""
    return f".{file_name}.json"


def origin_path(model: Path) -> Path:
    """Where the origin of the file ``model`` is kept."""
    return model.with_name(origin_name(model.name))


def read_origin(model: Path) -> Origin | None:
    """The origin of ``model``, or None when it is not known."""
    try:
        return msgspec.json.decode(origin_path(model).read_bytes(), type=Origin)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
