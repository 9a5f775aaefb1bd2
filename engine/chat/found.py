"""What a search gives."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Stage(StrEnum):
    """How a search goes on: by the index, then through all texts."""

    WORDS = "words"
    INSIDE = "inside"


class Cursor(msgspec.Struct, frozen=True):
    """Where a search goes on: with texts whose number is lower than ``below``."""

    stage: Stage
    below: int


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One message that was found, or a conversation by its title.

    Attributes:
        message: None: the title was found.
        role: Who wrote the message, by its stored name.
        time: Of the message, or of the conversation's last change; seconds since 1970.
        line: What is shown of it, one line.
        marks: What of ``line`` fits the query: start and length in characters.
    """

    conversation: str
    title: str
    line: str
    time: float
    message: str | None = None
    role: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    archived: bool = False


class Found(msgspec.Struct, frozen=True):
    """One page or one step of a search; ``cursor`` is None when it is over."""

    hits: tuple[Hit, ...] = ()
    cursor: Cursor | None = None
