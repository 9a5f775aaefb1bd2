"""Settings for commands, which have no window and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from app.settings.fields import decode, feature_name
from engine.library.regular import read_regular

T = TypeVar("T", bound=msgspec.Struct)


def saved(path: Path, feature: type[T]) -> T:
    """The record as the file at ``path`` has it; defaults where it says nothing sensible. Never fails."""
    try:
        document = msgspec.json.decode(read_regular(path))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = None
    return decode(feature, document.get(feature_name(feature)) if isinstance(document, dict) else None)
