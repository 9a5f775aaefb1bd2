"""Where a downloaded model came from: a small hidden file beside it, ``.x.gguf.json``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

BLOCK = 1 << 20


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What was known when the download ended. ``sha256`` is of the bytes that were written."""

    repo: str = ""
    commit: str | None = None
    path: str = ""
    size: int | None = None
    sha256: str | None = None
    verified: bool = False


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


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Result of hashing one file. ``right`` is None when there is nothing to compare with."""

    path: Path
    size: int
    sha256: str
    right: bool | None


def check_file(model: Path, report: Callable[[int], None] = lambda _: None) -> Check:
    """Hash ``model`` and compare with its origin; ``report`` gets the bytes done. Raises OSError."""
    digest, done = hashlib.sha256(), 0
    with model.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            report(done)
    found, origin = digest.hexdigest(), read_origin(model)
    known = origin.sha256 if origin else None
    return Check(path=model, size=done, sha256=found, right=None if known is None else known == found)
