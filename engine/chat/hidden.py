"""Rows of an import that is not whole yet: there, and seen by nobody.

A long import must neither hold the database against the window, which saves an answer each second, nor leave half of
itself when it is killed. So it writes in short transactions, and what it adds counts as deleted: since a time that no
clock shows, the import's own mark. At the end one statement reveals all of it. What carries such a mark while nobody
holds the lock of imports (`file_locks.importing`) is what a killed one left.

Callers translate SQLite's errors and hold the transaction.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Final

from engine.chat import rows, search_index, writing

MARKS: Final = 1e12
"""Seconds since 1970, as all times: marks are this and more, so that nothing old enough to be purged has one."""
FOLDER: Final = "title:"
"""Stands before a folder's title in the row of a conversation that is hidden: the folder is made when it is seen."""
DROP_SECONDS: Final = 0.03
MESSAGES: Final = 200
"""Messages in conversations of others that `drop` takes out at once."""

_FOLDERS: Final = "SELECT DISTINCT folder FROM conversation WHERE deleted = ? AND folder LIKE ? || '%'"
_CONVERSATION: Final = "SELECT id FROM conversation WHERE deleted >= ? LIMIT 1"
_MESSAGES: Final = "SELECT id FROM message WHERE deleted >= ? ORDER BY +seq DESC LIMIT ?"
"""By the index of what is deleted, not by ``seq``: a large history has millions that are not."""


def mark_of(now: float) -> float:
    """The mark of an import that begins now."""
    return MARKS + now


def folders(db: sqlite3.Connection, mark: float) -> list[str]:
    """Titles of the folders that hidden conversations are to be in."""
    found = [rows.text_of(row["folder"]) for row in db.execute(_FOLDERS, (mark, FOLDER))]
    return [name.removeprefix(FOLDER) for name in found]


def file(db: sqlite3.Connection, mark: float, title: str, folder: str) -> None:
    """Put those that wait for the folder with this title into ``folder``."""
    query = "UPDATE conversation SET folder = ? WHERE deleted = ? AND folder = ?"
    db.execute(query, (folder, mark, FOLDER + title))


def reveal(db: sqlite3.Connection, mark: float) -> None:
    """What was hidden with ``mark`` is there."""
    db.execute("UPDATE message SET deleted = NULL WHERE deleted = ?", (mark,))
    db.execute("UPDATE conversation SET deleted = NULL WHERE deleted = ?", (mark,))


def drop(db: sqlite3.Connection, seconds: float = DROP_SECONDS) -> bool:
    """Remove hidden rows for about ``seconds``; whether there are more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        row = db.execute(_CONVERSATION, (MARKS,)).fetchone()
        if row is not None:
            writing.purge(db, rows.text_of(row["id"]))
        elif not _drop_messages(db):
            return False
    return True


def _drop_messages(db: sqlite3.Connection) -> bool:
    """The last ones first: no message is there without the one before it."""
    gone = [rows.text_of(row["id"]) for row in db.execute(_MESSAGES, (MARKS, MESSAGES)).fetchall()]
    search_index.leave(db, gone)
    db.executemany("DELETE FROM part WHERE message = ?", [(one,) for one in gone])
    db.executemany("DELETE FROM message WHERE id = ?", [(one,) for one in gone])
    return bool(gone)
