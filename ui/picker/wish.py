"""What a picker is opened for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

ALL = ""
"""The suffix that every name ends with."""

_PATTERNS = re.compile(r"\(([^)]*)\)\s*$")


class Kind(Enum):
    """What is to be picked."""

    FILE = auto()
    FILES = auto()
    FOLDER = auto()
    SAVE = auto()


@dataclass(frozen=True)
class Filter:
    """Which files are shown: a name, and suffixes in small letters (`ALL`: every file)."""

    name: str
    suffixes: tuple[str, ...]


@dataclass(frozen=True)
class Wish:
    """What is asked for.

    Attributes:
        filters: The first one holds until another is chosen.
        name: Of the file to save, to begin with.
        suffix: Given to a saved file whose name has none, such as ``json``.
        start: Where looking begins; None: where it ended last, else at home.
    """

    kind: Kind
    title: str
    filters: tuple[Filter, ...] = ()
    name: str = ""
    suffix: str = ""
    start: Path | None = None


def filter_of(text: str) -> Filter:
    """A filter as Qt writes it: ``Models (*.gguf)``; ``All files (*)``."""
    found = _PATTERNS.search(text)
    patterns = found.group(1).split() if found is not None else []
    suffixes = tuple(ALL if pattern in ("*", "*.*") else pattern.lstrip("*").lower() for pattern in patterns)
    name = text[: found.start()].strip() if found is not None else text
    return Filter(name or text, suffixes or (ALL,))


def file_name(typed: str, wish: Wish, chosen: int = 0) -> str:
    """The name that a file is saved under while the filter number ``chosen`` holds; empty when ``typed`` is none."""
    name = typed.strip().replace("/", "-")
    if name in ("", ".", ".."):
        return ""
    known = {suffix for one in wish.filters for suffix in one.suffixes if suffix}
    own = wish.filters[chosen].suffixes[0] if 0 <= chosen < len(wish.filters) else ALL
    suffix = own or (f".{wish.suffix}" if wish.suffix else "")
    return name if name.lower().endswith(tuple(known | {suffix})) else name + suffix
