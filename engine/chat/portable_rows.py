"""Conversations given by value as rows of the database: ids, order, and values that can be relied on."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from engine.chat.portable import PortableMessage, PortablePart
from engine.chat.records import Role, Status
from engine.chat.text import clean

LATEST: Final = 1e11
"""Seconds since 1970 of a time that is no time any more."""
_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")


def hashed(*words: str) -> str:
    """An id that is always the same for these words."""
    return "i" + hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:22]


def name_of(id_: str) -> str:
    """The id of a conversation or message in the database, before it is known whether that is taken."""
    return id_ if _NAME.fullmatch(id_) else hashed(id_)


def in_order(messages: Iterable[PortableMessage]) -> list[tuple[PortableMessage, str | None]]:
    """Each message once, with its parent, parents first; one whose parent is missing or below it follows the one
    before it."""
    known: dict[str, PortableMessage] = {}
    for message in messages:
        known.setdefault(message.id, message)
    placed: dict[str, str | None] = {}
    last: str | None = None
    for message in known.values():
        for one in _upwards(message, known, placed):
            parent = one.parent
            if parent is not None and parent not in placed:
                parent = last
            placed[one.id] = parent
            last = one.id
    return [(known[id_], parent) for id_, parent in placed.items()]


def _upwards(
    message: PortableMessage, known: dict[str, PortableMessage], placed: dict[str, str | None]
) -> list[PortableMessage]:
    """``message`` and those above it that have no place yet, topmost first."""
    chain: list[PortableMessage] = []
    seen: set[str] = set()
    at: PortableMessage | None = message
    while at is not None and at.id not in placed and at.id not in seen:
        seen.add(at.id)
        chain.append(at)
        at = known.get(at.parent) if at.parent is not None else None
    chain.reverse()
    return chain


def parts_of(message: PortableMessage) -> list[tuple[int, PortablePart]]:
    """The parts with places of their own; without any an empty text."""
    placed: dict[int, PortablePart] = {}
    for part in message.parts or (PortablePart(),):
        position = part.position if abs(part.position) < 2**31 else 0
        while position in placed:
            position += 1
        placed[position] = part
    return sorted(placed.items())


def row_of(message: PortableMessage, name: str, conversation: str, parent: str | None) -> tuple[object, ...]:
    """The columns of a message."""
    return (
        name,
        conversation,
        parent,
        clean(message.role)[:64] or Role.USER,
        Status.STOPPED if message.status == Status.STREAMING else clean(message.status)[:64] or Status.DONE,
        time_of(message.created),
        _line(message.model),
        json_of(message.settings),
        json_of(message.stats),
        _line(message.finish),
        _line(message.error),
        message.thought_s if message.thought_s is not None and math.isfinite(message.thought_s) else None,
    )


def _line(text: str | None) -> str | None:
    return None if text is None else clean(text)[:1000]


def time_of(seconds: float) -> float:
    """``seconds`` if that is a time; else 0."""
    return float(seconds) if math.isfinite(seconds) and 0 < seconds < LATEST else 0.0


def json_of(value: Any) -> str | None:
    """A value as it is stored; None also for what is no text: half a character in it."""
    try:
        return None if value is None else clean(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:
        return None
