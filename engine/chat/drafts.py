"""Rows of messages that are not sent yet. Callers translate SQLite's errors and hold the transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from engine.chat import rows
from engine.chat.records import Draft
from engine.chat.text import clean

_NEW_CHAT: Final = ""
"""Stands in the table for the chat that is no conversation yet."""
_READ: Final = (
    "SELECT conversation, position, content FROM draft WHERE conversation = ''"
    " OR conversation IN (SELECT id FROM conversation WHERE deleted IS NULL) ORDER BY conversation, position"
)
_WRITE: Final = (
    "INSERT INTO draft (conversation, position, content) SELECT ?1, ?2, ?3"
    " WHERE ?1 = '' OR EXISTS (SELECT 1 FROM conversation WHERE id = ?1)"
    " ON CONFLICT (conversation, position) DO UPDATE SET content = excluded.content"
    " WHERE content IS NOT excluded.content"
)
"""A piece that is the same as before is not written again: typing beside a large pasted text stays cheap."""


def read(db: sqlite3.Connection) -> dict[str | None, Draft]:
    """The draft of each conversation that is not deleted; under None that of the new chat."""
    texts: dict[str, str] = {}
    pasted: dict[str, list[str]] = {}
    for row in db.execute(_READ):
        conversation, content = rows.text_of(row["conversation"]), rows.text_of(row["content"])
        pasted.setdefault(conversation, [])
        if row["position"] == 0:
            texts[conversation] = content
        else:
            pasted[conversation].append(content)
    return {
        conversation or None: Draft(text=texts.get(conversation, ""), pasted=tuple(large))
        for conversation, large in pasted.items()
    }


def write(db: sqlite3.Connection, drafts: Mapping[str | None, Draft]) -> None:
    """Put ``drafts`` in the place of those that are there; a blank one removes it.

    One for a conversation that does not exist is not kept.
    """
    for place, draft in drafts.items():
        conversation = place or _NEW_CHAT
        pieces = () if draft.blank else (draft.text, *draft.pasted)
        db.execute("DELETE FROM draft WHERE conversation = ? AND position >= ?", (conversation, len(pieces)))
        for position, piece in enumerate(pieces):
            db.execute(_WRITE, (conversation, position, clean(piece)))


def remove(db: sqlite3.Connection, conversation: str | None) -> None:
    """The draft became a message, or its conversation is gone."""
    db.execute("DELETE FROM draft WHERE conversation = ?", (conversation or _NEW_CHAT,))
