"""The schema, as numbered steps. A step that was released is never changed; a new one is added.

Names, not numbers, stand for roles, states and kinds, so that a value keeps its meaning.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_FIRST: Final = """
CREATE TABLE conversation (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT,                      -- NULL: none yet, made from the first message
    created REAL NOT NULL,           -- seconds since 1970, as all times
    updated REAL NOT NULL,
    tip TEXT,                        -- the message at the end of the shown branch
    deleted REAL                     -- NULL: not deleted
);
CREATE INDEX conversation_deleted ON conversation (deleted) WHERE deleted IS NOT NULL;

CREATE TABLE message (
    seq INTEGER PRIMARY KEY,         -- order of writing; a parent comes before its children
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    parent TEXT REFERENCES message (id) DEFERRABLE INITIALLY DEFERRED,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    created REAL NOT NULL,
    model TEXT,                      -- name of the model that wrote it
    settings TEXT,                   -- JSON: what it was made with
    stats TEXT,                      -- JSON: figures of the engine
    finish TEXT,                     -- the engine's reason for the end
    error TEXT                       -- sentence for the user
);
CREATE INDEX message_conversation ON message (conversation, seq);
CREATE INDEX message_parent ON message (parent);
CREATE INDEX message_streaming ON message (status) WHERE status = 'streaming';

CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    message TEXT NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,              -- text, thinking, attachment, tool_call, tool_result
    content TEXT NOT NULL,
    UNIQUE (message, position)
);
"""


_DRAFTS: Final = """
CREATE TABLE draft (
    conversation TEXT NOT NULL,      -- empty: the new chat, which is no row yet
    position INTEGER NOT NULL,       -- 0: what was typed; from 1 on: large texts that were pasted
    content TEXT NOT NULL,
    PRIMARY KEY (conversation, position)
);
"""


_STEERING: Final = """
ALTER TABLE conversation ADD COLUMN settings TEXT;   -- JSON: what its answers are made with; NULL: as everywhere
ALTER TABLE message ADD COLUMN thought_s REAL;       -- how long the model thought, seconds
ALTER TABLE message ADD COLUMN deleted REAL;         -- NULL: not deleted; so is all that follows one that is
"""


_FINDING: Final = """
ALTER TABLE conversation ADD COLUMN pinned REAL;     -- since when it stands at the top; NULL: it does not
ALTER TABLE conversation ADD COLUMN archived REAL;   -- since when it is out of the way; NULL: it is not
ALTER TABLE conversation ADD COLUMN folder TEXT;     -- NULL: in none
ALTER TABLE conversation ADD COLUMN place REAL;      -- order by hand in its folder or among those at the top
ALTER TABLE conversation ADD COLUMN titled TEXT;     -- who gave the title: user, model; NULL: the first message

CREATE TABLE folder (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    created REAL NOT NULL,
    place REAL NOT NULL,             -- order by hand
    folded INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX message_deleted ON message (deleted) WHERE deleted IS NOT NULL;

CREATE TABLE text_index_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,        -- how words are made (search_text.VERSION)
    below INTEGER NOT NULL,          -- parts up to this number are not in the index yet
    debt INTEGER NOT NULL            -- words of removed texts lie in the index still: 1, 2 being removed
);
CREATE VIRTUAL TABLE text_index USING fts5 (text, content='', prefix='2 3', tokenize='unicode61 remove_diacritics 2');
INSERT INTO text_index_state (id, version, below, debt) SELECT 1, 1, coalesce(max(id), 0), 0 FROM part;
"""


@dataclass(frozen=True)
class Migration:
    """One step from version ``number - 1`` to ``number``."""

    number: int
    name: str
    sql: str


MIGRATIONS: Final = (
    Migration(1, "conversations, message tree, parts", _FIRST),
    Migration(2, "drafts", _DRAFTS),
    Migration(3, "settings of a conversation, times of thoughts, deleted messages", _STEERING),
    Migration(4, "folders, pins, archive, search", _FINDING),
)

TABLES: Final = ("conversation", "message", "part", "draft", "folder")
"""Tables with the user's words, parents before children."""

_SINCE: Final = {"draft": 2, "folder": 4}


def tables_of(version: int) -> tuple[str, ...]:
    """Those of `TABLES` that a database of schema ``version`` has."""
    return tuple(table for table in TABLES if _SINCE.get(table, 1) <= version)


def version_of(db: sqlite3.Connection) -> int:
    """The schema version of an open database; 0 for a new one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def apply(db: sqlite3.Connection, migrations: Sequence[Migration], now: float) -> int:
    """Bring ``db`` to the last version in one transaction; how many steps were taken.

    The version is read inside the transaction: another process may have been faster. An error
    leaves the database as it was.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        pending = [step for step in migrations if step.number > version_of(db)]
        for step in pending:
            _run(db, step, now)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return len(pending)


def _run(db: sqlite3.Connection, step: Migration, now: float) -> None:
    db.execute(
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied REAL NOT NULL)"
    )
    for statement in _statements(step.sql):
        db.execute(statement)
    db.execute("INSERT INTO migration VALUES (?, ?, ?)", (step.number, step.name, now))
    db.execute(f"PRAGMA user_version = {int(step.number)}")


def _statements(sql: str) -> list[str]:
    """``sql`` cut at complete statements; `executescript` would end the transaction."""
    found: list[str] = []
    rest = ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest.strip())
            rest = ""
    return found
