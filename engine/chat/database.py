"""Opening the database: new, known, older, newer, damaged, or where nothing can be written."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.chat import failures, salvage
from engine.chat.connection import configure
from engine.chat.migrations import MIGRATIONS, Migration, apply, tables_of, version_of
from engine.errors import VrambleError
from engine.library.regular import open_regular

_MAGIC: Final = b"SQLite format 3\x00"
_VERSION_OFFSET: Final = 60
"""Where the file header holds `user_version`, big-endian, four bytes."""
_BUSY_SECONDS: Final = 5.0
_COPY_IN_MEMORY: Final = 64 * 1024 * 1024
_COMPANIONS: Final = ("-wal", "-shm", "-journal")


class _DamagedError(Exception):
    """The file cannot be used as it is."""


@dataclass(frozen=True)
class Opened:
    """A ready connection.

    Attributes:
        saved: False when it is a private copy that ends with the program.
        remarks: What the user should be told, in order.
    """

    db: sqlite3.Connection
    saved: bool
    remarks: tuple[VrambleError, ...] = ()


def open_database(path: Path, now: float, migrations: Sequence[Migration] = MIGRATIONS) -> Opened:
    """Open ``path``, making or migrating it as needed.

    A damaged file is kept beside a new one that holds what could be read. Where nothing can be
    written a private copy is given out.

    Raises:
        VrambleError: ``database-newer`` (left untouched) or ``migration-failed`` (rolled back).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _open_writable(path, now, migrations)
    except OSError as error:
        return _private_copy(path, now, migrations, str(error))
    except sqlite3.Error as error:
        if not failures.is_environment(error):
            raise
        return _private_copy(path, now, migrations, str(error))


def open_private(now: float, migrations: Sequence[Migration] = MIGRATIONS) -> sqlite3.Connection:
    """An empty database that ends with the program."""
    db = configure(sqlite3.connect(":memory:", isolation_level=None))
    apply(db, migrations, now)
    return db


def request_check(path: Path) -> None:
    """Have the next `open_database` examine every page: damage was met while reading."""
    with contextlib.suppress(OSError):
        _check_marker(path).touch()


def _open_writable(path: Path, now: float, migrations: Sequence[Migration]) -> Opened:
    try:
        return Opened(_open_checked(path, now, migrations), saved=True)
    except _DamagedError:
        kept = _set_aside(path, now)
    db = _open_checked(path, now, migrations)
    recovered = salvage.copy_readable(kept, db, now)
    return Opened(db, saved=True, remarks=(failures.set_aside(kept, recovered),))


def _open_checked(path: Path, now: float, migrations: Sequence[Migration]) -> sqlite3.Connection:
    latest = migrations[-1].number
    if path.exists():
        _examine_header(path, latest)
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            raise PermissionError(f"no right to write {path}")
    else:
        _create(path, now, migrations)
    db = _connect(path)
    try:
        configure(db)
        _examine(db, path, latest)
        if version_of(db) < latest:
            _migrate(db, path, now, migrations)
    except sqlite3.DatabaseError as error:
        db.close()
        if failures.is_damage(error):
            raise _DamagedError from error
        raise
    except BaseException:
        db.close()
        raise
    return db


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)


def _examine_header(path: Path, latest: int) -> None:
    """Look at the file before SQLite does, which may write beside it."""
    with open_regular(path) as file:
        header = file.read(100)
    if not header.startswith(_MAGIC) or len(header) < 100:
        raise _DamagedError
    found = int.from_bytes(header[_VERSION_OFFSET : _VERSION_OFFSET + 4], "big")
    if found > latest:
        raise failures.newer_database(path, found, latest)


def _examine(db: sqlite3.Connection, path: Path, latest: int) -> None:
    found = version_of(db)
    if found > latest:
        raise failures.newer_database(path, found, latest)
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names.issuperset(tables_of(found)):
        raise _DamagedError
    marker = _check_marker(path)
    if marker.exists():
        result = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        marker.unlink(missing_ok=True)
        if result != "ok":
            raise _DamagedError


def _create(path: Path, now: float, migrations: Sequence[Migration]) -> None:
    """Make the database under another name: under its own it is never seen half made."""
    draft = path.with_name(f"{path.name}.new-{os.getpid()}")
    _remove(draft)
    db = _connect(draft)
    try:
        configure(db)
        apply(db, migrations, now)
    finally:
        db.close()
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:
        if not path.exists():
            draft.rename(path)
    _remove(draft)


def _migrate(db: sqlite3.Connection, path: Path, now: float, migrations: Sequence[Migration]) -> None:
    """Back the file up, then take the missing steps in one transaction."""
    version = version_of(db)
    backup = _free_name(path, f".backup-v{version}-{_date(now)}")
    try:
        with contextlib.closing(sqlite3.connect(backup)) as copy:
            db.backup(copy)
        apply(db, migrations, now)
        db.execute("BEGIN IMMEDIATE")
        salvage.adopt_orphans(db, now)
        db.execute("COMMIT")
    except sqlite3.Error as error:
        if failures.is_damage(error):
            raise
        raise VrambleError(
            "migration-failed",
            "The conversations of the earlier version could not be taken over.",
            "The file was left as it was; what is written now is not saved.",
            f"{path}: {error}",
        ) from error


def _set_aside(path: Path, now: float) -> Path:
    kept = _free_name(path, f".damaged-{_date(now)}")
    for companion in _COMPANIONS:
        beside = path.with_name(path.name + companion)
        if beside.exists():
            beside.rename(kept.with_name(kept.name + companion))
    path.rename(kept)
    _check_marker(path).unlink(missing_ok=True)
    return kept


def _private_copy(path: Path, now: float, migrations: Sequence[Migration], why: str) -> Opened:
    """What can be read of ``path``, in a database of our own."""
    remarks = (failures.not_saved(path, why),)
    for options in ("mode=ro", "mode=ro&immutable=1"):
        with contextlib.suppress(sqlite3.Error, OSError):
            if not path.is_file():
                break
            small = path.stat().st_size <= _COPY_IN_MEMORY
            with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True)) as source:
                found = version_of(source)
                if found > migrations[-1].number:
                    raise failures.newer_database(path, found, migrations[-1].number)
                db = sqlite3.connect(":memory:" if small else "", isolation_level=None)
                source.backup(db)
            configure(db)
            apply(db, migrations, now)
            return Opened(db, saved=False, remarks=remarks)
    return Opened(open_private(now, migrations), saved=False, remarks=remarks)


def _free_name(path: Path, ending: str) -> Path:
    candidate = path.with_name(path.name + ending)
    number = 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}{ending}-{number}")
    return candidate


def _date(now: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(now))


def _check_marker(path: Path) -> Path:
    return path.with_name(path.name + ".check")


def _remove(path: Path) -> None:
    for name in ("", *_COMPANIONS):
        path.with_name(path.name + name).unlink(missing_ok=True)
