"""Branches: messages deleted from one on, and copied up to one. Callers translate SQLite's errors and hold the
transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from engine.chat import rows, search_index
from engine.chat.tree import Tree

_COPY: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model, settings, stats, finish, error,"
    " thought_s) SELECT ?, ?, ?, role, CASE status WHEN 'streaming' THEN 'stopped' ELSE status END, created, model,"
    " settings, stats, finish, error, thought_s FROM message WHERE id = ?"
)
_COPY_PARTS: Final = (
    "INSERT INTO part (message, position, kind, content) SELECT ?, position, kind, content FROM part WHERE message = ?"
)
_COPY_CONVERSATION: Final = (
    "INSERT INTO conversation (id, title, created, updated, settings) SELECT ?, ?, ?, ?, settings FROM conversation"
    " WHERE id = ?"
)

_RESTORE: Final = (
    "WITH RECURSIVE below (id) AS (SELECT ?1 UNION SELECT message.id FROM message JOIN below ON parent = below.id"
    " WHERE deleted = ?2) UPDATE message SET deleted = NULL WHERE id IN below"
)


def delete_from(db: sqlite3.Connection, conversation: str, tree: Tree, message: str, now: float) -> str | None:
    """Hide ``message`` and all that follows it in every branch; another version takes its place if there is one.

    Returns the new tip.
    """
    gone = tree.below(message)
    db.executemany("UPDATE message SET deleted = ? WHERE id = ?", [(now, one) for one in gone])
    others = [other for other in tree.versions(message) if other != message]
    place = tree.versions(message).index(message)
    tip = tree.newest_leaf(others[max(0, place - 1)]) if others else tree.parents[message]
    db.execute("UPDATE conversation SET tip = ?, updated = ? WHERE id = ?", (tip, now, conversation))
    return tip


def undelete_from(db: sqlite3.Connection, conversation: str, message: str, tip: str | None, now: float) -> bool:
    """Bring back what `delete_from` of ``message`` hid, and show ``tip`` again; False when it was purged."""
    row = db.execute("SELECT deleted FROM message WHERE id = ? AND deleted IS NOT NULL", (message,)).fetchone()
    if row is None:
        return False
    db.execute(_RESTORE, (message, row["deleted"]))
    db.execute("UPDATE conversation SET tip = ?, updated = ? WHERE id = ?", (tip, now, conversation))
    return True


def purge(db: sqlite3.Connection, before: float) -> int:
    """Remove for good what was deleted in conversations before ``before``; how many messages."""
    gone = "SELECT id FROM message WHERE deleted IS NOT NULL AND deleted < ?"
    search_index.leave(db, [rows.text_of(row["id"]) for row in db.execute(gone, (before,)).fetchall()])
    db.execute(f"DELETE FROM part WHERE message IN ({gone})", (before,))
    return db.execute("DELETE FROM message WHERE deleted IS NOT NULL AND deleted < ?", (before,)).rowcount


def copy(
    db: sqlite3.Connection, source: str, path: list[str], target: str, title: str, new_id: Callable[[], str], now: float
) -> None:
    """A new conversation ``target`` with copies of the messages in ``path``, root first."""
    db.execute(_COPY_CONVERSATION, (target, title, now, now, source))
    parent: str | None = None
    for message in path:
        made = new_id()
        db.execute(_COPY, (made, target, parent, message))
        db.execute(_COPY_PARTS, (made, message))
        parent = made
    db.execute("UPDATE conversation SET tip = ? WHERE id = ?", (parent, target))
