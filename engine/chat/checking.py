"""The database examines itself."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from engine.chat import rows
from engine.chat.migrations import MIGRATIONS, tables_of, version_of
from engine.chat.tree import Node, Tree

MOST_LINES: Final = 20
OPERATIONS: Final = 500_000
"""Of SQLite's machine between two looks whether to stop: some hundredths of a second."""
_LOST: Final = (
    "SELECT count(*) FROM message WHERE conversation NOT IN (SELECT id FROM conversation)",
    "SELECT count(*) FROM part WHERE message NOT IN (SELECT id FROM message)",
)


class Health(NamedTuple):
    """What an examination found.

    Attributes:
        version: Of the schema; 0 when there is no database yet.
        damage: SQLite's own lines; empty when the file is whole.
        lost: Messages and parts whose conversation or message is gone.
        misplaced: Messages whose place in the tree cannot be right.
        unindexed: Texts that the search by words does not know yet, at most.
    """

    version: int = 0
    conversations: int = 0
    messages: int = 0
    damage: tuple[str, ...] = ()
    lost: int = 0
    misplaced: int = 0
    unindexed: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.damage or self.lost or self.misplaced)


def examine_file(path: Path, *, pages: bool = True, stopped: Callable[[], bool] = lambda: False) -> Health:
    """Examine the database at ``path`` without changing it.

    Args:
        pages: Look at every page too, which takes SQLite seconds for each GB and cannot be stopped.
        stopped: Asked now and then; when it says so, the examination ends as if the file could not be read.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        if not file.read(1):
            return Health(damage=("the file is empty",))
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = lambda data: data.decode("utf-8", "replace")
            db.set_progress_handler(stopped, OPERATIONS)
            return examine(db, pages=pages)
    except sqlite3.OperationalError as error:
        raise OSError(str(error)) from error
    except sqlite3.DatabaseError as error:
        return Health(damage=(str(error),))


def examine(db: sqlite3.Connection, *, pages: bool = True) -> Health:
    """Examine an open database: SQLite's integrity check (``pages``), links between rows, the trees."""
    version = version_of(db)
    check = db.execute(f"PRAGMA integrity_check({MOST_LINES})") if pages else ()
    damage = [str(row[0]) for row in check if row[0] != "ok"]
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    missing = set(tables_of(min(version, MIGRATIONS[-1].number))) - names
    damage += [f"the table {name} is missing" for name in sorted(missing)]
    if missing or version == 0:
        return Health(version=version, damage=tuple(damage))
    unindexed = db.execute("SELECT below FROM text_index_state").fetchone() if version >= 4 else None
    return Health(
        version=version,
        conversations=_count(db, "SELECT count(*) FROM conversation WHERE deleted IS NULL"),
        messages=_count(db, "SELECT count(*) FROM message"),
        damage=tuple(damage),
        lost=sum(_count(db, query) for query in _LOST),
        misplaced=_misplaced(db),
        unindexed=0 if unindexed is None else int(unindexed[0]),
    )


def _misplaced(db: sqlite3.Connection) -> int:
    """Messages that `Tree` would put elsewhere, counted one conversation at a time."""
    found, at = 0, None
    nodes: list[Node] = []
    for row in db.execute("SELECT conversation, id, parent, role FROM message ORDER BY conversation, seq"):
        if row["conversation"] != at:
            found += len(Tree.of(nodes).relinked)
            nodes, at = [], row["conversation"]
        parent = None if row["parent"] is None else rows.text_of(row["parent"])
        nodes.append(Node(rows.text_of(row["id"]), parent, rows.text_of(row["role"])))
    return found + len(Tree.of(nodes).relinked)


def _count(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
