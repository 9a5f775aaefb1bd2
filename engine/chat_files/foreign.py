"""Small helpers for files of other programs, in which nothing can be relied on."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from engine.chat.portable import PortableMessage, PortablePart

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL)


def text(value: object) -> str:
    """``value`` if it is a text."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """``value`` if it is a JSON object."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` if it is a list."""
    return value if isinstance(value, list) else []


def seconds(value: object) -> float:
    """A time in seconds since 1970: of seconds, milliseconds or an ISO date; 0 for none."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    for unit in (1.0, 1e3, 1e6, 1e9):
        if 0 < value / unit < 1e10:
            return float(value / unit)
    return 0.0


def parts(said: str, thought: str = "") -> tuple[PortablePart, ...]:
    """The parts of a message; a thought that stands before the text in tags becomes one of its own."""
    if not thought and (match := _THOUGHT.match(said)):
        thought, said = match.group(1).strip(), said[match.end() :]
    found = (PortablePart("text", said, 0),)
    return (PortablePart("thinking", thought, -1), *found) if thought else found


def chain(messages: list[PortableMessage]) -> tuple[PortableMessage, ...]:
    """Messages that follow each other."""
    before: str | None = None
    found = []
    for message in messages:
        given = {name: getattr(message, name) for name in message.__struct_fields__} | {"parent": before}
        found.append(PortableMessage(**given))
        before = message.id
    return tuple(found)
