"""Locks beside the database: between processes, and gone with the process that holds them.

SQLite takes care of its own file. These locks are for what it cannot know: that the file itself is about to be
replaced, and that hidden rows are those of an import that is alive.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.errors import VrambleError

WAIT_SECONDS: Final = 20.0
"""So long an opening waits for a restore, which only renames files meanwhile."""
IMPORT_WAIT_SECONDS: Final = 3.0
"""So long an import waits for a window, which takes out what a killed one left: step by step, with the lock in each."""
_STEP_SECONDS: Final = 0.02
_HELD: Final = (errno.EAGAIN, errno.EACCES)


class Hold:
    """A lock that is held until `release`, or until the process ends.

    Without a file (a folder that cannot be written, a file system without locks) it holds nothing.
    """

    def __init__(self, file: io.FileIO | None = None) -> None:
        self._file = file

    def release(self) -> None:
        """Let go, also where a process that is just being started still has the file open."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()
            self._file = None


def in_use(database: Path, wait: float = WAIT_SECONDS, *, make_folder: bool = False) -> Hold:
    """Hold ``database`` as one of many that have it open; `replacing` it is not possible meanwhile.

    Args:
        make_folder: The database is about to be made: its folder need not be there.

    Raises:
        VrambleError: ``database-busy``: it is being replaced for longer than ``wait`` seconds.
    """
    if make_folder:
        with contextlib.suppress(OSError):
            database.parent.mkdir(parents=True, exist_ok=True)
    hold = _waited_for(database, ".lock", fcntl.LOCK_SH, wait)
    if hold is None:
        sentence = "The conversations are being replaced by a backup."
        raise VrambleError("database-busy", sentence, "Try again in a moment.", str(database))
    return hold


@contextlib.contextmanager
def using(database: Path) -> Iterator[None]:
    """See `in_use`."""
    hold = in_use(database)
    try:
        yield
    finally:
        hold.release()


@contextlib.contextmanager
def replacing(database: Path) -> Iterator[bool]:
    """Whether nobody has ``database`` open; nobody opens it meanwhile if so."""
    yield from _alone(database, ".lock")


@contextlib.contextmanager
def importing(database: Path, wait: float = 0.0) -> Iterator[bool]:
    """Whether nobody else imports conversations into ``database``; nobody does meanwhile if so.

    Args:
        wait: Seconds for whoever has it to let go.
    """
    yield from _alone(database, ".import-lock", wait)


def _alone(database: Path, ending: str, wait: float = 0.0) -> Iterator[bool]:
    hold = _waited_for(database, ending, fcntl.LOCK_EX, wait)
    try:
        yield hold is not None
    finally:
        if hold is not None:
            hold.release()


def _waited_for(database: Path, ending: str, how: int, wait: float) -> Hold | None:
    """The lock, after ``wait`` seconds at most; None when others have it still."""
    end = time.monotonic() + wait
    while (hold := _held(database, ending, how)) is None and time.monotonic() < end:
        time.sleep(_STEP_SECONDS)
    return hold


def _held(database: Path, ending: str, how: int) -> Hold | None:
    """The lock, at once; None when others have it."""
    place = database.with_name(database.name + ending)
    try:
        file = io.FileIO(os.open(place, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError:
        return Hold()
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        return None if error.errno in _HELD else Hold()
    return Hold(file)
