"""Reading whole model files: the sha256 of their bytes, with progress and an end at any time."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.library.regular import open_regular, read_block

BLOCK = 4 << 20
DROP_AFTER = 256 << 20
"""Bytes after which pages are given back, so that a check does not push out what others need."""


class Hashed(msgspec.Struct, frozen=True):
    """The sha256 of the bytes that ``path`` had when it was of this size and time. Not known: empty."""

    path: Path
    sha256: str
    size: int = -1
    mtime_ns: int = -1


def hashed_now(path: Path, sha256: str) -> Hashed:
    """A record of ``path`` as it is now."""
    with contextlib.suppress(OSError):
        info = path.stat()
        return Hashed(path, sha256, info.st_size, info.st_mtime_ns)
    return Hashed(path, "")


class StoppedError(Exception):
    """The work was told to end."""


class Progress:
    """Bytes done of a total, and the wish to end. One thread counts, another reads.

    Attributes:
        total: Bytes to do.
        done: Bytes done.
    """

    def __init__(self, total: int = 0, stop: Callable[[], bool] = lambda: False) -> None:
        self.total = total
        self.done = 0
        self._stop = stop
        self._cancelled = False

    def cancel(self) -> None:
        """Ask for the end."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """The end was asked for."""
        return self._cancelled or self._stop()

    def add(self, n_bytes: int) -> None:
        """``n_bytes`` more are done. Raises `StoppedError` when the end was asked for."""
        self.done += n_bytes
        if self.cancelled:
            raise StoppedError


def sha256_of(path: Path, progress: Progress, *, from_disk: bool = False) -> str:
    """sha256 of all bytes that the file has now, as 64 hexadecimal digits.

    ``from_disk``: forget what memory holds of the file first, so that the drive's own bytes are read.

    Raises:
        OSError: It cannot be read, or is no regular file.
        StoppedError: ``progress`` was cancelled.
    """
    digest = hashlib.sha256()
    with open_regular(path) as file:
        if from_disk:
            forget(file.fileno())
        buffer = bytearray(BLOCK)
        view = memoryview(buffer)
        size = os.fstat(file.fileno()).st_size
        at = dropped = 0
        while count := read_block(file, view, size - at):
            digest.update(view[:count])
            at += count
            progress.add(count)
            if at - dropped >= DROP_AFTER:
                forget(file.fileno(), dropped, at - dropped)
                dropped = at
    return digest.hexdigest()


def forget(handle: int, offset: int = 0, length: int = 0) -> None:
    """Give back the memory in which the system keeps pages of a file. Where it cannot, nothing happens."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(handle, offset, length, os.POSIX_FADV_DONTNEED)
