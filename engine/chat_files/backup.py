"""Backup and restore of everything as one file: a zip with the database and the settings.

The database is copied by SQLite itself, so a backup may be made while conversations are written. Restoring reads the
whole file and examines the database in it before anything is replaced; what was there before is kept beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from engine.chat.file_locks import using
from engine.errors import VrambleError

FORMAT: Final = "vramble-backup"
VERSION: Final = 1
MANIFEST: Final = "backup.json"
DATABASE: Final = "vramble.sqlite3"
SETTINGS: Final = "settings.json"
PAGES: Final = 2000
LARGEST_MANIFEST: Final = 1024**2


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup says of itself. ``sha256`` by name of each file in it."""

    format: str
    version: int
    program: str = ""
    created: float = 0.0
    conversations: int = 0
    messages: int = 0
    sha256: dict[str, str] = {}


def make(
    target: Path,
    database: Path,
    settings: Path,
    *,
    program: str,
    now: float,
    stopped: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Write a backup to ``target``. The file is there whole, or as it was before.

    Raises:
        VrambleError: ``backup-failed``.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(prefix=".vramble-backup-", dir=target.parent) as folder:
            copy = Path(folder) / DATABASE
            counts = _copy_database(database, copy, stopped)
            files = {DATABASE: copy} | ({SETTINGS: settings} if settings.is_file() else {})
            sums = {name: checksum(path) for name, path in files.items()}
            manifest = Manifest(
                format=FORMAT,
                version=VERSION,
                program=program,
                created=now,
                conversations=counts[0],
                messages=counts[1],
                sha256=sums,
            )
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
                archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
                for name, path in files.items():
                    archive.write(path, name)
        draft.replace(target)
    except (OSError, sqlite3.Error, zipfile.LargeZipFile) as error:
        next_step = "Choose another place, or free some space."
        raise VrambleError("backup-failed", "The backup could not be written.", next_step, str(error)) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return manifest


def read(source: Path) -> Manifest:
    """What a backup says of itself, without unpacking it.

    Raises:
        VrambleError: ``backup-unreadable`` or ``backup-newer``.
    """
    with opened(source) as archive:
        return manifest_of(archive)


def _copy_database(database: Path, copy: Path, stopped: Callable[[], bool]) -> tuple[int, int]:
    def look(_status: int, _remaining: int, _total: int) -> None:
        if stopped():
            raise InterruptedError("the backup was given up")

    with (
        using(database),
        contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target, pages=PAGES, progress=look)
        target.execute("PRAGMA journal_mode = DELETE")
        row = target.execute(
            "SELECT (SELECT count(*) FROM conversation WHERE deleted IS NULL), (SELECT count(*) FROM message)"
        ).fetchone()
    return int(row[0]), int(row[1])


@contextlib.contextmanager
def opened(source: Path) -> Iterator[zipfile.ZipFile]:
    """The zip; VrambleError ``backup-unreadable`` when it is none, or not there."""
    try:
        if not source.exists():
            raise VrambleError("backup-unreadable", f"{source.name} is not there.", "Choose another file.")
        if not source.is_file():
            raise OSError("no file")
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise _unreadable(source, str(error)) from error


def manifest_of(archive: zipfile.ZipFile) -> Manifest:
    """What it says of itself; VrambleError when it is no backup, or a newer one."""
    try:
        with archive.open(MANIFEST) as file:
            manifest = msgspec.json.decode(file.read(LARGEST_MANIFEST), type=Manifest)
    except (KeyError, msgspec.MsgspecError) as error:
        raise _unreadable(Path(archive.filename or ""), str(error)) from error
    if manifest.format != FORMAT or DATABASE not in manifest.sha256:
        raise _unreadable(Path(archive.filename or ""), "no vramble-backup")
    if manifest.version > VERSION:
        raise newer()
    return manifest


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unreadable(source: Path, detail: str) -> VrambleError:
    return VrambleError("backup-unreadable", f"{source.name} is no backup of Vramble.", "Choose another file.", detail)


def newer() -> VrambleError:
    """The backup is of a later version of the program."""
    return VrambleError(
        "backup-newer", "The backup was made by a newer version of Vramble.", "Install that version, then try again."
    )
