"""The index of all texts: kept with them in the same transactions, built for older ones in the background.

A text part is in the index when its message is not being written (`streaming`) and its number is above the mark
``below``: what an earlier version of the program wrote lies below the mark, which `build` moves down to nothing. The
index holds words only (contentless FTS5), so that taking a text out needs the text as it was put in; whoever changes a
text or the state of its message calls `leave` before and `enter` after.

Callers translate SQLite's errors and hold the transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from engine.chat import failures, rows
from engine.chat.search_text import VERSION, fold

CREATE: Final = (
    "CREATE VIRTUAL TABLE text_index USING fts5"
    " (text, content='', prefix='2 3', tokenize='unicode61 remove_diacritics 2')"
)
SLICE: Final = 1000
"""Texts that `build` takes at once."""
MERGED_PAGES: Final = 64
"""Pages of the index that `forget` writes at once."""

_IN: Final = (
    "SELECT part.id, part.content FROM part JOIN message ON message.id = part.message"
    " WHERE part.kind = 'text' AND message.status != 'streaming' AND part.id > ? AND {which}"
)
_ADD: Final = "INSERT INTO text_index (rowid, text) VALUES (?, ?)"
_TAKE_OUT: Final = "INSERT INTO text_index (text_index, rowid, text) VALUES ('delete', ?, ?)"


class IndexState(NamedTuple):
    """How far the index is.

    Attributes:
        below: Parts with this number and lower ones are not in it yet; 0: all are.
        debt: Words of texts that are gone may still lie in the file: 1 nothing was done about it yet, 2 begun; else 0.
    """

    below: int
    debt: int


def state(db: sqlite3.Connection) -> IndexState:
    """How far the index is."""
    row = db.execute("SELECT below, debt FROM text_index_state").fetchone()
    return IndexState(0, 0) if row is None else IndexState(int(row["below"]), int(row["debt"]))


def prepare(db: sqlite3.Connection) -> None:
    """Begin anew when the words are made another way now than those in the index."""
    row = db.execute("SELECT version FROM text_index_state").fetchone()
    if row is None or row["version"] != VERSION:
        begin_anew(db)


def begin_anew(db: sqlite3.Connection) -> None:
    """Throw the index away; `build` makes it again."""
    db.execute("DROP TABLE IF EXISTS text_index")
    db.execute(CREATE)
    db.execute("DELETE FROM text_index_state")
    db.execute(
        "INSERT INTO text_index_state (id, version, below, debt) SELECT 1, ?, coalesce(max(id), 0), 0 FROM part",
        (VERSION,),
    )


def enter(db: sqlite3.Connection, messages: Iterable[str]) -> None:
    """Put in what of ``messages`` belongs into the index now."""
    _write(db, _ADD, _texts(db, "message.id = ?", messages))


def leave(db: sqlite3.Connection, messages: Iterable[str]) -> None:
    """Take out what of ``messages`` is in the index."""
    _forget(db, _texts(db, "message.id = ?", messages))


def leave_conversation(db: sqlite3.Connection, conversation: str) -> None:
    """Take out all of ``conversation``."""
    _forget(db, _texts(db, "message.conversation = ?", [conversation]))


def enter_conversation(db: sqlite3.Connection, conversation: str) -> None:
    """Put in all of ``conversation``, of which nothing is in the index."""
    _write(db, _ADD, _texts(db, "message.conversation = ?", [conversation]))


def build(db: sqlite3.Connection, count: int = SLICE) -> bool:
    """Put in the next ``count`` older texts, the newest first; whether there are more."""
    below = state(db).below
    if below <= 0:
        return False
    row = db.execute(
        "SELECT min(id) AS first FROM (SELECT id FROM part WHERE id <= ? ORDER BY id DESC LIMIT ?)", (below, count)
    ).fetchone()
    floor = 0 if row["first"] is None else max(0, int(row["first"]) - 1)
    found = db.execute(_IN.format(which="part.id <= ? ORDER BY part.id"), (floor, below)).fetchall()
    db.execute("UPDATE text_index_state SET below = ?", (floor,))
    _write(db, _ADD, [(row["id"], fold(rows.text_of(row["content"]))) for row in found])
    return floor > 0


def forget(db: sqlite3.Connection, pages: int = MERGED_PAGES) -> bool:
    """Write some of the index anew without the words of texts that are gone; whether there is more to do.

    FTS5 marks what is taken out and drops it when its pieces are merged: all of them, until one is left.
    """
    debt = state(db).debt
    if not debt:
        return False
    before = db.total_changes
    step = ("INSERT INTO text_index (text_index, rank) VALUES ('merge', ?)", (-pages if debt == 1 else pages,))
    if not _guarded(db, lambda: db.execute(*step)):
        return False
    done = db.total_changes - before < 2
    db.execute("UPDATE text_index_state SET debt = ?", (0 if done else 2,))
    return not done


def _texts(db: sqlite3.Connection, which: str, values: Iterable[str]) -> list[tuple[int, str]]:
    below = state(db).below
    query = _IN.format(which=which)
    found = [row for value in values for row in db.execute(query, (below, value))]
    return sorted((row["id"], fold(rows.text_of(row["content"]))) for row in found)


def _forget(db: sqlite3.Connection, texts: Sequence[tuple[int, str]]) -> None:
    if texts:
        db.execute("UPDATE text_index_state SET debt = 1")
        _write(db, _TAKE_OUT, texts)


def _write(db: sqlite3.Connection, statement: str, texts: Sequence[tuple[int, str]]) -> None:
    if texts:
        _guarded(db, lambda: db.executemany(statement, texts))


def _guarded(db: sqlite3.Connection, work: Callable[[], object]) -> bool:
    """Do ``work`` on the index; False when the index was damaged and is begun anew. No message is lost with it.

    FTS5 writes what it has gathered when a savepoint is made: damage shows here and not when all is committed.
    """
    db.execute("SAVEPOINT text_index")
    try:
        work()
        db.execute("SAVEPOINT text_index_written")
        db.execute("RELEASE text_index")
    except sqlite3.DatabaseError as error:
        if failures.is_environment(error) or not db.in_transaction:
            raise
        db.execute("ROLLBACK TO text_index")
        db.execute("RELEASE text_index")
        begin_anew(db)
        return False
    return True
