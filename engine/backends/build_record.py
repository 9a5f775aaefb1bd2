"""What the set-up wrote down about the engine it built."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec


class BuildRecord(msgspec.Struct, frozen=True):
    """The part of ``build.json`` that the worker uses. ``vulkan_reason`` says why Vulkan was left out."""

    vulkan: bool | None = None
    vulkan_reason: str | None = None


def default_record_path() -> Path:
    """Where the set-up puts the record of this environment."""
    return Path(sys.prefix) / "share" / "vramble" / "build.json"


def read_build_record(path: Path | None = None) -> BuildRecord:
    """The record, or an empty one when there is none or it cannot be read: it only adds an explanation."""
    try:
        return msgspec.json.decode((path or default_record_path()).read_bytes(), type=BuildRecord)
    except (OSError, msgspec.DecodeError):
        return BuildRecord()
