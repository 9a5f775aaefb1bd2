"""Queries of the store: rows in, records out. Callers translate SQLite's errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from engine.chat import rows
from engine.chat.records import Conversation, Message, Part, PartKind, Thread
from engine.chat.tree import Node, Tree

_CONVERSATION: Final = f"SELECT {', '.join(rows.CONVERSATION)} FROM conversation"
_PARTS: Final = (
    "SELECT part.message, part.kind, part.content FROM message JOIN part ON part.message = message.id"
    " WHERE message.conversation = ? ORDER BY message.seq, part.position"
)
_ONE: Final = "SELECT * FROM message WHERE id = ? AND conversation = ? AND deleted IS NULL"
_OWN_PARTS: Final = "SELECT kind, content FROM part WHERE message = ? ORDER BY position"
_VERSIONS: Final = (
    "SELECT id FROM message WHERE conversation = ? AND parent IS ? AND role = ? AND deleted IS NULL ORDER BY seq"
)
_FIRST_QUESTION: Final = (
    "SELECT part.content FROM message JOIN part ON part.message = message.id"
    " WHERE message.conversation = ? AND message.deleted IS NULL AND message.role = 'user'"
    " AND part.kind = ?"
    " ORDER BY message.seq, part.position LIMIT 1"
)


def conversations(db: sqlite3.Connection) -> list[Conversation]:
    """All that are not deleted, the one changed last first.

    Sorted here: SQLite puts a damaged time (a text) after every number.
    """
    return sorted(_every_conversation(db), key=lambda conversation: conversation.updated, reverse=True)


def _every_conversation(db: sqlite3.Connection) -> list[Conversation]:
    """At the start of the program, for 10,000 of them: without a dictionary and a call of Python for each value."""
    query = f"{_CONVERSATION} WHERE deleted IS NULL"
    cursor, lenient = db.cursor(), db.text_factory
    cursor.row_factory = None
    db.text_factory = str
    try:
        return [rows.conversation_of_values(values) for values in cursor.execute(query)]
    except sqlite3.OperationalError:  # bytes that are no UTF-8 somewhere
        db.text_factory = lenient
        return [rows.conversation_of(row) for row in db.execute(query)]
    finally:
        db.text_factory = lenient


def conversation(db: sqlite3.Connection, id_: str) -> Conversation | None:
    """One conversation, deleted or not."""
    row = db.execute(f"{_CONVERSATION} WHERE id = ?", (id_,)).fetchone()
    return None if row is None else rows.conversation_of(row)


def thread(db: sqlite3.Connection, id_: str) -> Thread | None:
    """The shown branch of a conversation, root first."""
    found = conversation(db, id_)
    if found is None:
        return None
    stored = {
        rows.text_of(row["id"]): row
        for row in db.execute("SELECT * FROM message WHERE conversation = ? AND deleted IS NULL ORDER BY seq", (id_,))
    }
    tree = _tree_of(list(stored.values()))
    path = tree.path(tree.tip(found.tip))
    parts = _parts(db, id_, set(path))
    return Thread(found, tuple(_message(stored[message], parts.get(message, ()), tree) for message in path))


def tail(db: sqlite3.Connection, id_: str, count: int) -> Thread | None:
    """The last ``count`` messages of the shown branch, found from its tip upwards.

    None when that is not all there is to say: no such conversation, no tip, or a link that `Tree` would cut.
    """
    found = conversation(db, id_)
    if found is None or found.tip is None:
        return None
    chain: list[sqlite3.Row] = []
    above: str | None = found.tip
    while above is not None and len(chain) < count:
        row = db.execute(_ONE, (above, id_)).fetchone()
        if row is None or (chain and row["seq"] >= chain[-1]["seq"]):
            return None
        chain.append(row)
        above = _optional(row["parent"])
    return Thread(found, tuple(_tail_message(db, row) for row in reversed(chain)))


def tree(db: sqlite3.Connection, id_: str) -> tuple[Tree, str | None]:
    """The whole tree of a conversation and its tip."""
    query = "SELECT id, parent, role FROM message WHERE conversation = ? AND deleted IS NULL ORDER BY seq"
    stored = db.execute(query, (id_,))
    found = _tree_of(stored.fetchall())
    row = db.execute("SELECT tip FROM conversation WHERE id = ?", (id_,)).fetchone()
    return found, found.tip(None if row is None else row["tip"])


def first_question(db: sqlite3.Connection, id_: str) -> str:
    """Text of the oldest user message; empty when there is none."""
    row = db.execute(_FIRST_QUESTION, (id_, PartKind.TEXT)).fetchone()
    return "" if row is None else rows.text_of(row["content"])


def _parts(db: sqlite3.Connection, id_: str, wanted: set[str]) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for row in db.execute(_PARTS, (id_,)):
        message = rows.text_of(row["message"])
        if message in wanted:
            found.setdefault(message, []).append(rows.part_of(row))
    return found


def _tree_of(stored: Sequence[sqlite3.Row]) -> Tree:
    return Tree.of(
        [Node(rows.text_of(row["id"]), _optional(row["parent"]), rows.text_of(row["role"])) for row in stored]
    )


def _optional(value: object) -> str | None:
    return None if value is None else rows.text_of(value)


def _message(row: sqlite3.Row, parts: Sequence[Part], tree: Tree) -> Message:
    id_ = rows.text_of(row["id"])
    versions = tree.versions(id_)
    return rows.message_of(row, parts, versions.index(id_) + 1, len(versions), relinked=id_ in tree.relinked)


def _tail_message(db: sqlite3.Connection, row: sqlite3.Row) -> Message:
    parts = [rows.part_of(part) for part in db.execute(_OWN_PARTS, (row["id"],))]
    found = db.execute(_VERSIONS, (row["conversation"], row["parent"], row["role"]))
    versions = [rows.text_of(one["id"]) for one in found]
    id_ = rows.text_of(row["id"])
    return rows.message_of(row, parts, versions.index(id_) + 1, len(versions), relinked=False)
