"""What can still be read from a damaged database, copied into a new one."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.chat import migrations
from engine.chat.ids import new_id

_RECOVERED_TITLE: Final = "Recovered messages"
_PARTS_WITHOUT_MESSAGE: Final = "SELECT message FROM part WHERE message NOT IN (SELECT id FROM message)"
_MESSAGES_WITHOUT_CONVERSATION: Final = "SELECT id FROM message WHERE conversation NOT IN (SELECT id FROM conversation)"
_FILLERS: Final = {
    "created": 0.0,
    "updated": 0.0,
    "content": "",
    "role": "unknown",
    "status": "done",
    "kind": "text",
    "position": 0,
}
"""Values for columns that must not be empty."""


def copy_readable(damaged: Path, db: sqlite3.Connection, now: float) -> int:
    """Copy every readable row of ``damaged`` into the empty ``db``; how many conversations it has then."""
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        with _opened(damaged) as source:
            db.execute("BEGIN IMMEDIATE")
            for table in migrations.TABLES:
                _copy_table(source, db, table)
            adopt_orphans(db, now)
            db.execute("COMMIT")
    except sqlite3.Error:
        if db.in_transaction:
            db.execute("ROLLBACK")
    finally:
        db.execute("PRAGMA foreign_keys = ON")
    return int(db.execute("SELECT count(*) FROM conversation").fetchone()[0])


def adopt_orphans(db: sqlite3.Connection, now: float) -> int:
    """Give messages without a conversation, and parts without a message, a conversation of their own.

    Runs inside the caller's transaction. Returns how many messages were taken in.
    """
    parts = {row[0] for row in db.execute(_PARTS_WITHOUT_MESSAGE)}
    messages = [row[0] for row in db.execute(_MESSAGES_WITHOUT_CONVERSATION)]
    if not parts and not messages:
        return 0
    home = new_id(now)
    db.execute(
        "INSERT INTO conversation (id, title, created, updated) VALUES (?, ?, ?, ?)", (home, _RECOVERED_TITLE, now, now)
    )
    moved = "UPDATE message SET conversation = ? WHERE id = ?"
    db.executemany(moved, [(home, message) for message in messages])
    made = "INSERT INTO message (id, conversation, role, status, created) VALUES (?, ?, 'unknown', 'done', 0)"
    db.executemany(made, [(message, home) for message in parts])
    return len(parts) + len(messages)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The damaged file, read-only; as it lies on the disk when its log cannot be replayed."""
    source = _connect(path, "mode=ro")
    try:
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        source.close()
        source = _connect(path, "mode=ro&immutable=1")
    try:
        yield source
    finally:
        source.close()


def _connect(path: Path, options: str) -> sqlite3.Connection:
    source = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, isolation_level=None)
    source.text_factory = lambda data: data.decode("utf-8", "replace")
    source.row_factory = sqlite3.Row
    return source


def _copy_table(source: sqlite3.Connection, db: sqlite3.Connection, table: str) -> None:
    known = {row[1]: bool(row[3]) for row in db.execute(f"PRAGMA table_info({table})")}
    for row in _readable_rows(source, table):
        values = {name: row[name] for name in row.keys() if name in known}  # noqa: SIM118 - a Row is no mapping
        for name, filler in _FILLERS.items():
            if known.get(name) and values.get(name) is None:
                values[name] = filler
        columns = ", ".join(values)
        marks = ", ".join("?" * len(values))
        with contextlib.suppress(sqlite3.IntegrityError):
            db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values()))


def _readable_rows(source: sqlite3.Connection, table: str) -> Iterator[sqlite3.Row]:
    """Rows from both ends of ``table`` up to the damaged pages, each once."""
    seen: set[int] = set()
    for order in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in source.execute(f"SELECT rowid AS row_number, * FROM {table} ORDER BY rowid {order}"):
                if row["row_number"] in seen:
                    return
                seen.add(row["row_number"])
                yield row
