"""SQLite's errors in words: what the user can act on, and what is a bug."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from engine.errors import VrambleError

_PRIMARY_CODE: Final = 0xFF
_FULL: Final = (
    "disk-full",
    "Conversations cannot be saved: the disk is full.",
    "Free some space where {folder} lies.",
)
_UNWRITABLE: Final = (
    "read-only",
    "Conversations cannot be saved: {path} cannot be written.",
    "Check the permissions of the folder.",
)
_BUSY: Final = (
    "database-busy",
    "Conversations cannot be saved: another program holds {path}.",
    "Try again in a moment.",
)
_DAMAGED: Final = (
    "database-damaged",
    "The database of conversations is damaged.",
    "Restart Vramble: it then keeps the file and recovers what it can read.",
)
_BROKEN_DISK: Final = (
    "disk-error",
    "Conversations cannot be read or saved: the disk reports an error.",
    "Copy what matters, then check the disk.",
)
_WORDS: Final = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_IOERR: _BROKEN_DISK,
}


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or -1 when the binding itself raised."""
    code = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else int(code) & _PRIMARY_CODE


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file's contents are at fault."""
    return _WORDS.get(primary_code(error)) == _DAMAGED


def is_environment(error: sqlite3.Error) -> bool:
    """Whether the disk, the folder or another process is at fault: not this program, not the contents."""
    return primary_code(error) in _WORDS and not is_damage(error)


def in_words(error: sqlite3.Error, path: Path) -> VrambleError | None:
    """``error`` for the user; None when it is a bug."""
    words = _WORDS.get(primary_code(error))
    if words is None:
        return None
    code, message, next_step = (text.format(path=path, folder=path.parent) for text in words)
    return VrambleError(code, message, next_step, f"{path}: {error} ({getattr(error, 'sqlite_errorname', 'unknown')})")


def newer_database(path: Path, found: int, known: int) -> VrambleError:
    """The file was written by a later version of the program."""
    return VrambleError(
        "database-newer",
        "The conversations were saved by a newer version of Vramble.",
        "Start that version. The file was left untouched; what is written now is not saved.",
        f"{path}: schema version {found}, this program knows {known}",
    )


def not_saved(path: Path, why: str) -> VrambleError:
    """Everything works, nothing is kept: said once at the start."""
    return VrambleError(
        "not-saved",
        f"Conversations cannot be saved: {path} cannot be written.",
        "What is written now is lost when the window closes.",
        why,
    )


def set_aside(kept: Path, recovered: int) -> VrambleError:
    """A damaged file was replaced; ``recovered`` counts the conversations that could be read."""
    found = "one conversation was" if recovered == 1 else f"{recovered} conversations were"
    return VrambleError(
        "database-replaced",
        f"The database of conversations was damaged; {found} recovered.",
        f"The damaged file was kept as {kept.name}.",
        str(kept),
    )
