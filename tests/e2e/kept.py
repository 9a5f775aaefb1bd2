"""What the program has written to its database, read beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def kept_answers(home: Path) -> list[str]:
    """Texts of the answers, in the order in which they were begun."""
    return _first_column(
        home,
        "SELECT content FROM message JOIN part ON part.message = message.id"
        " WHERE role = 'assistant' AND kind = 'text' ORDER BY seq",
    )


def kept_drafts(home: Path) -> list[str]:
    """What was typed and not sent."""
    return _first_column(home, "SELECT content FROM draft WHERE position = 0 ORDER BY conversation")


def _first_column(home: Path, query: str) -> list[str]:
    """Empty as long as there is no such table."""
    file = home / "data/vramble.sqlite3"
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
            return [str(value) for (value,) in db.execute(query)]
    except sqlite3.OperationalError:
        return []
