"""Rows of a conversation as a portable value. Callers translate SQLite's errors."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from engine.chat import rows
from engine.chat.portable import PortableConversation, PortableMessage, PortablePart


def _plain(value: object) -> Any:
    """Stored JSON as plain values; None when it is none."""
    if value is None:
        return None
    try:
        return msgspec.json.decode(rows.text_of(value))
    except msgspec.DecodeError:
        return None


def _messages(db: sqlite3.Connection, conversation: str) -> tuple[PortableMessage, ...]:
    parts: dict[str, list[PortablePart]] = {}
    query = (
        "SELECT part.message, part.kind, part.content, part.position FROM message JOIN part"
        " ON part.message = message.id WHERE message.conversation = ? ORDER BY part.position"
    )
    for row in db.execute(query, (conversation,)):
        position = row["position"] if isinstance(row["position"], int) else 0
        piece = PortablePart(rows.text_of(row["kind"]), rows.text_of(row["content"]), position)
        parts.setdefault(rows.text_of(row["message"]), []).append(piece)
    query = "SELECT * FROM message WHERE conversation = ? AND deleted IS NULL ORDER BY seq"
    return tuple(
        _portable_message(row, tuple(parts.get(rows.text_of(row["id"]), ())))
        for row in db.execute(query, (conversation,))
    )


def _portable_message(row: sqlite3.Row, parts: tuple[PortablePart, ...]) -> PortableMessage:
    def text(name: str) -> str | None:
        return None if row[name] is None else rows.text_of(row[name])

    return PortableMessage(
        id=rows.text_of(row["id"]),
        parent=text("parent"),
        role=rows.text_of(row["role"]),
        status=rows.text_of(row["status"]),
        created=rows.seconds_of(row["created"]),
        model=text("model"),
        settings=_plain(row["settings"]),
        stats=_plain(row["stats"]),
        finish=text("finish"),
        error=text("error"),
        thought_s=rows.optional_seconds(row["thought_s"]),
        parts=parts,
    )


def conversation(row: sqlite3.Row, db: sqlite3.Connection) -> PortableConversation:
    """The conversation of a row (with ``folder_title``), with its messages."""
    return PortableConversation(
        id=rows.text_of(row["id"]),
        title=rows.text_of(row["title"]),
        titled=None if row["titled"] is None else rows.text_of(row["titled"]),
        created=rows.seconds_of(row["created"]),
        updated=rows.seconds_of(row["updated"]),
        tip=None if row["tip"] is None else rows.text_of(row["tip"]),
        folder=None if row["folder_title"] is None else rows.text_of(row["folder_title"]),
        pinned=row["pinned"] is not None,
        archived=row["archived"] is not None,
        settings=_plain(row["settings"]),
        messages=_messages(db, rows.text_of(row["id"])),
    )
