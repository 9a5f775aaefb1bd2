"""Settings of every connection to the database."""

from __future__ import annotations

import sqlite3
from typing import Final

_PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "trusted_schema = OFF",
    "journal_size_limit = 8388608",
)


def reading_only(db: sqlite3.Connection) -> sqlite3.Connection:
    """How rows come out of a connection, whatever is in them."""
    db.row_factory = sqlite3.Row
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def configure(db: sqlite3.Connection) -> sqlite3.Connection:
    """Settings of every connection that writes.

    ``synchronous`` FULL: each commit waits for the disk, so that a message is there before the
    engine is asked even if the power fails; commits are few (two for a turn, one a second while
    an answer streams). ``secure_delete`` overwrites what is deleted.
    """
    reading_only(db)
    for pragma in _PRAGMAS:
        db.execute(f"PRAGMA {pragma}").fetchall()
    return db
