"""What can still be read from a damaged database, copied into a new one."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.chat import migrations, reading, search_index
from engine.chat.ids import new_id
from engine.chat.titles import title_of

_RECOVERED_TITLE: Final = "Recovered messages"
_PARTS_WITHOUT_MESSAGE: Final = (
    "SELECT message FROM part WHERE message NOT IN (SELECT id FROM message) GROUP BY message ORDER BY min(id)"
)
_LOST_CONVERSATIONS: Final = (
    "SELECT DISTINCT conversation FROM message WHERE conversation NOT IN (SELECT id FROM conversation)"
)
_NEW_CONVERSATION: Final = "INSERT INTO conversation (id, title, created, updated) VALUES (?, ?, ?, ?)"
_NEW_MESSAGE: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created) VALUES (?, ?, ?, 'unknown', 'done', 0)"
)
_NUMBERED: Final = "SELECT rowid AS number, * FROM {table} WHERE rowid > ? AND rowid < ?"
_LARGEST_ROWID: Final = 2**63 - 1
_FILLERS: Final = {
    "created": 0.0,
    "updated": 0.0,
    "content": "",
    "role": "unknown",
    "status": "done",
    "kind": "text",
    "position": 0,
    "title": "",
    "place": 0.0,
    "folded": 0,
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
            search_index.begin_anew(db)
            db.execute("COMMIT")
    except sqlite3.Error:
        if db.in_transaction:
            db.execute("ROLLBACK")
    finally:
        db.execute("PRAGMA foreign_keys = ON")
    return int(db.execute("SELECT count(*) FROM conversation").fetchone()[0])


def adopt_orphans(db: sqlite3.Connection, now: float) -> None:
    """Make the conversations anew that messages belong to; give parts without a message one of their own.

    Runs inside the caller's transaction.
    """
    for (lost,) in db.execute(_LOST_CONVERSATIONS).fetchall():
        first, last = db.execute(
            "SELECT min(created), max(created) FROM message WHERE conversation = ?", (lost,)
        ).fetchone()
        title = title_of(reading.first_question(db, lost)) or _RECOVERED_TITLE
        db.execute(_NEW_CONVERSATION, (lost, title, first, last))
    parts = [row[0] for row in db.execute(_PARTS_WITHOUT_MESSAGE)]
    if parts:
        home = new_id(now)
        db.execute(_NEW_CONVERSATION, (home, _RECOVERED_TITLE, now, now))
        places = zip([None, *parts], parts, strict=False)
        db.executemany(_NEW_MESSAGE, [(message, home, before) for before, message in places])


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
    """``writable_schema`` makes SQLite read on in a file that is shorter than its header says."""
    source = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, isolation_level=None)
    source.text_factory = lambda data: data.decode("utf-8", "replace")
    source.row_factory = sqlite3.Row
    source.execute("PRAGMA writable_schema = ON")
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
    """Every row of ``table`` that can be read, each once: damaged pages are stepped over.

    A page of zeros reads as rows without a number; they are left out. A cursor that meets damage
    keeps the row before it to itself, hence the single rows.
    """
    last = 0
    while True:
        for row in _until_damage(source, f"{_NUMBERED.format(table=table)} ORDER BY rowid", (last, _LARGEST_ROWID)):
            if row["number"] > last:
                last = row["number"]
                yield row
        single = _next_readable(source, table, last)
        end = _LARGEST_ROWID if single is None else single["number"]
        for row in _until_damage(source, f"{_NUMBERED.format(table=table)} ORDER BY rowid DESC", (last, end)):
            if last < row["number"] < end:
                yield row
        if single is None:
            return
        last = end
        yield single


def _until_damage(source: sqlite3.Connection, query: str, values: tuple[int, int]) -> Iterator[sqlite3.Row]:
    with contextlib.suppress(sqlite3.DatabaseError):
        yield from source.execute(query, values)


def _next_readable(source: sqlite3.Connection, table: str, last: int) -> sqlite3.Row | None:
    """A row behind the damage that follows row ``last``; None when there is none."""
    for power in range(40):
        after = last + 2**power - 1
        for row in _until_damage(
            source, f"{_NUMBERED.format(table=table)} ORDER BY rowid LIMIT 1", (after, _LARGEST_ROWID)
        ):
            if row["number"] > after:
                return row
    return None
