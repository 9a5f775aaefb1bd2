"""The key-value part of a GGUF header."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from engine.library.gguf.cursor import MAX_COUNT, Cursor, cut_off, damaged
from engine.library.gguf.tables import ARRAY, INTEGER_KINDS, SCALAR_FORMATS, STRING

MAX_PAIRS = 1 << 16
MAX_KEY = 1 << 16
MAX_KEPT_TEXT = 4096
MAX_KEPT_PAIRS = 4096
MAX_KEPT_ITEMS = 1024
"""Longest list of numbers that is kept: llama.cpp takes models of up to 512 layers."""
MAX_KEPT_LISTS = 256
SMALLEST_PAIR = 8 + 4 + 1

TEMPLATE = "tokenizer.chat_template"

Scalar = int | float | str


@dataclass
class Metadata:
    """Numbers, short texts and short lists of numbers by key, and how long each list is."""

    values: dict[str, Scalar] = field(default_factory=dict)
    list_lengths: dict[str, int] = field(default_factory=dict)
    lists: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    has_template: bool = False

    def text(self, key: str) -> str:
        """The text at ``key``; empty when it is missing or no text."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def count(self, key: str) -> int | None:
        """The whole number at ``key``; None when it is missing, negative or no number."""
        value = self.values.get(key)
        return value if isinstance(value, int) and value >= 0 else None


def read_metadata(cursor: Cursor, n_pairs: int) -> Metadata:
    """Read ``n_pairs`` pairs. Raises `HeaderError`."""
    if n_pairs > MAX_PAIRS:
        raise damaged("The header announces an impossible number of entries.")
    if n_pairs * SMALLEST_PAIR > cursor.left:
        raise cut_off()
    result = Metadata()
    seen: set[str] = set()
    for _ in range(n_pairs):
        key = _read_key(cursor)
        if key in seen:
            raise damaged(f"The header has the entry “{key[:80]}” twice.")
        seen.add(key)
        _read_value(cursor, key, result)
    return result


def _read_key(cursor: Cursor) -> str:
    raw = cursor.take(cursor.length("the name of an entry", MAX_KEY))
    if not raw:
        raise damaged("The header has an entry without a name.")
    return raw.decode("utf-8", "replace")


def _read_value(cursor: Cursor, key: str, result: Metadata) -> None:
    kind = cursor.u32()
    keep = len(result.values) < MAX_KEPT_PAIRS or key.startswith(("general.", "split."))
    if kind == STRING:
        text = _read_text(cursor, key, result)
        if keep:
            result.values[key] = text
    elif kind == ARRAY:
        _read_list(cursor, key, result)
    elif kind in SCALAR_FORMATS:
        value = cursor.scalar(SCALAR_FORMATS[kind])
        if keep and (kind in INTEGER_KINDS or isinstance(value, float)):
            result.values[key] = value
    else:
        raise damaged(f"The entry “{key[:80]}” is of a kind that GGUF does not have.")


def _read_text(cursor: Cursor, key: str, result: Metadata) -> str:
    length = cursor.length(f"the text of “{key[:80]}”")
    kept = cursor.take(min(length, MAX_KEPT_TEXT))
    cursor.skip(length - len(kept))
    if key == TEMPLATE:
        result.has_template = length > MAX_KEPT_TEXT or bool(kept.strip())
    return kept.decode("utf-8", "replace")


def _read_list(cursor: Cursor, key: str, result: Metadata) -> None:
    kind = cursor.u32()
    count = cursor.u64()
    if count > MAX_COUNT:
        raise damaged(f"The list “{key[:80]}” has an impossible length.")
    if kind == STRING:
        if count * 8 > cursor.left:
            raise cut_off()
        cursor.skip_strings(count)
    elif kind in SCALAR_FORMATS:
        _take_numbers(cursor, key, result, SCALAR_FORMATS[kind], count)
    else:
        raise damaged(f"The list “{key[:80]}” is of a kind that GGUF does not have.")
    result.list_lengths[key] = count


def _take_numbers(cursor: Cursor, key: str, result: Metadata, layout: str, count: int) -> None:
    size = count * struct.calcsize(layout)
    if count > MAX_KEPT_ITEMS or len(result.lists) >= MAX_KEPT_LISTS or size > cursor.left:
        cursor.skip(size)
        return
    result.lists[key] = struct.unpack(f"<{count}{layout[1:]}", cursor.take(size))
