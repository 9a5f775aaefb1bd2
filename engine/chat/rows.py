"""Database rows to records. Never fails: what cannot be read is named in `Message.problem`."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from engine.chat.records import UNTITLED, Conversation, Folder, Message, Part, PartKind, Role, RunSettings, Status
from engine.protocol.types import GenerationStats

T = TypeVar("T")

CONVERSATION: Final = (
    "id", "title", "created", "updated", "tip", "settings", "pinned", "archived", "folder", "place", "titled",
)  # fmt: skip
"""Columns of a conversation that its record is made of."""
_ROLES: Final = frozenset(role.value for role in Role)
_STATES: Final = frozenset(status.value for status in Status)
_STATS: Final = msgspec.json.Decoder(GenerationStats)
_SETTINGS: Final = msgspec.json.Decoder(RunSettings)


def conversation_of_values(values: tuple[Any, ...]) -> Conversation:
    """The same of the columns of `CONVERSATION`, in their order, quickly where all is as it should be."""
    id_, title, created, updated, tip, settings, pinned, archived, folder, place, titled = values
    numbers = (created, updated, pinned or 0.0, archived or 0.0, place or 0.0)
    texts = (id_, title or "", tip or "", settings or "", folder or "", titled or "")
    if set(map(type, numbers)) != {float} or set(map(type, texts)) != {str} or not math.isfinite(sum(numbers)):
        return conversation_of(dict(zip(CONVERSATION, values, strict=True)))
    return Conversation(
        id=id_,
        title=title or UNTITLED,
        created=created,
        updated=updated,
        tip=tip,
        settings=settings,
        pinned=pinned,
        archived=archived,
        folder=folder,
        place=place,
        titled=titled,
    )


def conversation_of(row: sqlite3.Row | Mapping[str, Any]) -> Conversation:
    """The record of a ``conversation`` row."""
    title = text_of(row["title"])
    return Conversation(
        id=text_of(row["id"]),
        title=title or UNTITLED,
        created=seconds_of(row["created"]),
        updated=seconds_of(row["updated"]),
        tip=None if row["tip"] is None else text_of(row["tip"]),
        settings=None if row["settings"] is None else text_of(row["settings"]),
        pinned=optional_seconds(row["pinned"]),
        archived=optional_seconds(row["archived"]),
        folder=None if row["folder"] is None else text_of(row["folder"]),
        place=optional_seconds(row["place"]),
        titled=None if row["titled"] is None else text_of(row["titled"]),
    )


def folder_of(row: sqlite3.Row) -> Folder:
    """The record of a ``folder`` row."""
    return Folder(
        id=text_of(row["id"]), title=text_of(row["title"]), place=seconds_of(row["place"]), folded=row["folded"] == 1
    )


def message_of(row: sqlite3.Row, parts: Sequence[Part], version: int, versions: int, *, relinked: bool) -> Message:
    """The record of a ``message`` row with its parts."""
    problems: list[str] = []
    if relinked:
        problems.append("its place in the conversation was lost")
    if not parts:
        problems.append("its text is missing")
    role_name, status_name = text_of(row["role"]), text_of(row["status"])
    role = Role(role_name) if role_name in _ROLES else Role.OTHER
    status = Status(status_name) if status_name in _STATES else None
    if status is None:
        problems.append(f"its state “{status_name}” is unknown")
    settings = _json(_SETTINGS, row["settings"], "its settings", problems)
    stats = _json(_STATS, row["stats"], "its figures", problems)
    return Message(
        id=text_of(row["id"]),
        conversation=text_of(row["conversation"]),
        parent=None if row["parent"] is None else text_of(row["parent"]),
        role=role,
        role_name=role_name,
        text="".join(part.content for part in parts if part.kind == PartKind.TEXT),
        status=status or Status.DONE,
        created=seconds_of(row["created"]),
        model=None if row["model"] is None else text_of(row["model"]),
        settings=settings,
        stats=stats,
        error=None if row["error"] is None else text_of(row["error"]),
        finish=None if row["finish"] is None else text_of(row["finish"]),
        parts=tuple(parts),
        problem=f"This message is damaged: {', '.join(problems)}." if problems else "",
        version=version,
        versions=versions,
        thought_s=None if row["thought_s"] is None else seconds_of(row["thought_s"]),
    )


def part_of(row: sqlite3.Row) -> Part:
    """The record of a ``part`` row."""
    return Part(text_of(row["kind"]), text_of(row["content"]))


def text_of(value: object) -> str:
    """Any stored value as text; bytes that are not UTF-8 become U+FFFD."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def seconds_of(value: object) -> float:
    """A stored time in seconds; 0 when it is none."""
    if isinstance(value, int | float | str):
        try:
            seconds = float(value)
        except ValueError:
            return 0.0
        return seconds if math.isfinite(seconds) else 0.0
    return 0.0


def optional_seconds(value: object) -> float | None:
    """A stored number; None when there is none."""
    return None if value is None else seconds_of(value)


def _json(decoder: msgspec.json.Decoder[T], value: object, what: str, problems: list[str]) -> T | None:
    if value is None:
        return None
    try:
        return decoder.decode(text_of(value))
    except msgspec.DecodeError:
        problems.append(f"{what} cannot be read")
        return None
