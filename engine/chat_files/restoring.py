"""Puts a backup in the place of what is there, which is kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Final, NamedTuple

from engine.chat.database import configure
from engine.chat.migrations import MIGRATIONS, tables_of, version_of
from engine.chat_files.backup import DATABASE, SETTINGS, Manifest, checksum, manifest_of, newer, opened
from engine.errors import VrambleError

LARGEST: Final = 64 * 1024**3
LARGEST_SETTINGS: Final = 64 * 1024**2
_COMPANIONS: Final = ("", "-wal", "-shm")


class Restored(NamedTuple):
    """What a restore put in place, and where what was there before lies now."""

    manifest: Manifest
    kept: tuple[Path, ...]


def restore(source: Path, database: Path, settings: Path, *, now: float) -> Restored:
    """Put a backup in the place of the database and of the settings, which nobody has open. Nothing is changed before
    all of it was read and examined.

    Raises:
        VrambleError: ``backup-unreadable``, ``backup-newer``, ``backup-damaged`` (nothing changed) or
            ``restore-failed`` (what was there is put back).
    """
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        settings.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".vramble-restore-", dir=database.parent) as folder:
            manifest, files = _unpacked(source, Path(folder))
            _examine(files[DATABASE])
            return Restored(manifest, _replace(files, {DATABASE: database, SETTINGS: settings}, now))
    except OSError as error:
        next_step = "Free some space where the conversations lie, then try again."
        raise VrambleError("restore-failed", "The backup could not be put in place.", next_step, str(error)) from error


def _unpacked(source: Path, folder: Path) -> tuple[Manifest, dict[str, Path]]:
    with opened(source) as archive:
        manifest = manifest_of(archive)
        files: dict[str, Path] = {}
        for name, wanted in manifest.sha256.items():
            if name not in (DATABASE, SETTINGS):
                continue
            files[name] = folder / name
            _unpack(archive, name, files[name])
            if checksum(files[name]) != wanted:
                raise _damaged(f"{name}: its checksum differs")
    return manifest, files


def _unpack(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    limit = LARGEST if name == DATABASE else LARGEST_SETTINGS
    try:
        if archive.getinfo(name).file_size > limit:
            raise _damaged(f"{name} is larger than any of ours")
        with archive.open(name) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file, 1024 * 1024)
    except (KeyError, zipfile.BadZipFile, EOFError) as error:
        raise _damaged(f"{name}: {error}") from error


def _examine(database: Path) -> None:
    """The database of a backup, as a whole."""
    try:
        with contextlib.closing(configure(sqlite3.connect(database, isolation_level=None))) as db:
            found = version_of(db)
            if found > MIGRATIONS[-1].number:
                raise newer()
            names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if found < 1 or not names.issuperset(tables_of(found)):
                raise _damaged("tables are missing")
            result = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if result != "ok":
                raise _damaged(str(result))
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise _damaged(str(error)) from error


def _replace(files: dict[str, Path], places: dict[str, Path], now: float) -> tuple[Path, ...]:
    """Move what is there aside and the new in place; the other way round when that fails half way."""
    ending = time.strftime(".before-restore-%Y-%m-%d-%H%M%S", time.localtime(now))
    moved: list[tuple[Path, Path]] = []
    try:
        for name in files:
            place = places[name]
            for companion in _COMPANIONS:
                present = place.with_name(place.name + companion)
                if present.exists():
                    kept = place.with_name(place.name + ending + companion)
                    present.rename(kept)
                    moved.append((kept, present))
        for name, file in files.items():
            _move(file, places[name])
    except OSError:
        for name in files:
            places[name].unlink(missing_ok=True)
        for kept, present in reversed(moved):
            kept.rename(present)
        raise
    return tuple(kept for kept, present in moved if present in places.values())


def _move(file: Path, place: Path) -> None:
    """Also onto another file system."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.part")
    shutil.move(file, draft)
    draft.replace(place)


def _damaged(detail: str) -> VrambleError:
    return VrambleError(
        "backup-damaged", "The backup is damaged.", "Nothing was changed. Choose another backup.", detail
    )
