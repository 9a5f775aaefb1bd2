"""Puts a backup in the place of what is there, which is kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from engine.chat.connection import configure
from engine.chat.file_locks import replacing
from engine.chat.migrations import MIGRATIONS, tables_of, version_of
from engine.chat_files.backup import DATABASE, MANIFEST, SETTINGS, Manifest, checksum, manifest_of, newer, opened
from engine.errors import VrambleError
from engine.library.regular import read_regular

LARGEST: Final = 64 * 1024**3
LARGEST_SETTINGS: Final = 64 * 1024**2
_COMPANIONS: Final = ("", "-wal", "-shm")


class Restored(NamedTuple):
    """What a restore put in place, and where what was there before lies now."""

    manifest: Manifest
    kept: tuple[Path, ...]


def stage(source: Path, waiting: Path) -> Manifest:
    """Read a backup whole, examine it, and lay it into the folder ``waiting`` for `apply`. Nothing else is changed.

    Raises:
        VrambleError: ``backup-unreadable``, ``backup-newer``, ``backup-damaged`` or ``restore-failed``.
    """
    try:
        waiting.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=waiting.parent) as folder:
            whole = Path(folder) / "whole"
            whole.mkdir(mode=0o700)
            manifest, files = _unpacked(source, whole)
            _examine(files[DATABASE])
            (whole / MANIFEST).write_bytes(msgspec.json.encode(manifest))
            discard(waiting)
            whole.rename(waiting)
    except OSError as error:
        raise _failed(str(error)) from error
    return manifest


def waiting_in(waiting: Path) -> Manifest | None:
    """What `stage` laid there; None for nothing."""
    try:
        return msgspec.json.decode(read_regular(waiting / MANIFEST), type=Manifest)
    except (OSError, msgspec.MsgspecError):
        return None


def discard(waiting: Path) -> None:
    """What was staged is not wanted any more."""
    shutil.rmtree(waiting, ignore_errors=True)


def apply(waiting: Path, database: Path, settings: Path, *, now: float) -> Restored | None:
    """Put what was staged in the place of the database and of the settings; None when nothing waits. What was there is
    kept beside it.

    Raises:
        VrambleError: ``restore-failed``; what was there is back in its place. ``restore-waits``: somebody has the
            database open; nothing was done.
    """
    if waiting_in(waiting) is None:
        return None
    try:
        for place in (database, settings):
            place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(database) as alone:
            if not alone:
                raise _waits(database)
            return _apply_alone(waiting, database, settings, now)
    except OSError as error:
        raise _failed(str(error)) from error


def _apply_alone(waiting: Path, database: Path, settings: Path, now: float) -> Restored | None:
    manifest = waiting_in(waiting)
    files = {name: waiting / name for name in (DATABASE, SETTINGS) if (waiting / name).exists()}
    if manifest is None or DATABASE not in files:
        return None
    kept = _replace(files, {DATABASE: database, SETTINGS: settings}, now)
    discard(waiting)
    return Restored(manifest, kept)


def restore(source: Path, database: Path, settings: Path, *, now: float) -> Restored:
    """`stage` and `apply` at once. What cannot be put in place now waits for the next start (``restore-waits``).

    Raises:
        VrambleError: As they do.
    """
    waiting = database.with_name("restore-waiting")
    manifest = stage(source, waiting)
    done = apply(waiting, database, settings, now=now)
    return done or Restored(manifest, ())  # a window that started meanwhile has put it in place


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
    except (KeyError, zipfile.BadZipFile, EOFError, zlib.error) as error:
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
            if db.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone():
                raise _damaged("it has parts that are none of this program's")
            result = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if result != "ok":
                raise _damaged(str(result))
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise _damaged(str(error)) from error


def _replace(files: dict[str, Path], places: dict[str, Path], now: float) -> tuple[Path, ...]:
    """Move what is there aside and the new in place; the other way round when that fails half way."""
    ending = _free_ending([places[name] for name in files], now)
    moved: list[tuple[Path, Path]] = []
    replaced: list[Path] = []
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
            replaced.append(places[name])
    except OSError:
        _take_back(replaced, moved)
        raise
    return tuple(kept for kept, present in moved if present in places.values())


def _free_ending(places: list[Path], now: float) -> str:
    """What nothing kept by an earlier restore is called by: its time may come twice."""
    plain = time.strftime(".before-restore-%Y-%m-%d-%H%M%S", time.localtime(now))
    ending, number = plain, 1
    while any(place.with_name(place.name + ending + more).exists() for place in places for more in _COMPANIONS):
        number += 1
        ending = f"{plain}-{number}"
    return ending


def _take_back(replaced: list[Path], moved: list[tuple[Path, Path]]) -> None:
    """What was put in place goes, what was moved aside comes back; nothing that was not touched is."""
    for place in replaced:
        with contextlib.suppress(OSError):
            place.unlink()
    for kept, present in reversed(moved):
        with contextlib.suppress(OSError):
            kept.rename(present)


def _move(file: Path, place: Path) -> None:
    """Also onto another file system."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        shutil.move(file, draft)
        draft.replace(place)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _damaged(detail: str) -> VrambleError:
    return VrambleError(
        "backup-damaged", "The backup is damaged.", "Nothing was changed. Choose another backup.", detail
    )


def _waits(database: Path) -> VrambleError:
    return VrambleError(
        "restore-waits",
        "The database is in use: the backup is not in place yet.",
        "It takes its place when Vramble is started the next time and nothing else has the conversations open.",
        str(database),
    )


def _failed(detail: str) -> VrambleError:
    next_step = "Free some space where the conversations lie, then try again."
    return VrambleError("restore-failed", "The backup could not be put in place.", next_step, detail)
