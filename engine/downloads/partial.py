"""The part of a file that is already here: ``x.gguf.part`` and ``x.gguf.part.json`` beside it.

The bytes of the ``.part`` file are the truth: they are only ever appended, so its length says
where to go on, also after kill -9. The record beside it says of which file they are a part.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.downloads.disk import write_error
from engine.errors import VrambleError
from engine.library.listing import FilePart

if TYPE_CHECKING:
    from hashlib import _Hash

PART = ".part"
RECORD = ".part.json"
CHUNK = 1 << 20


class PartRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Of what a ``.part`` file is a part.

    Attributes:
        repo: ``owner/repo``.
        revision: What was asked for, such as ``main``.
        commit: Commit the bytes come from.
        path: Path in the repository.
        size: Whole size in bytes, None when unknown.
        sha256: Of the whole file, None when unknown.
        etag: The Hub's tag for the content.
        served_etag: Tag of the server that sent the bytes; for If-Range.
        ranges: Finished byte ranges ``(start, end)``, as of the last save.
        verified: The sha256 over all bytes was right.
        files: All files of the download this one belongs to.
    """

    version: int = 1
    repo: str
    revision: str = "main"
    commit: str | None = None
    path: str
    size: int | None = None
    sha256: str | None = None
    etag: str | None = None
    served_etag: str | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    verified: bool = False
    files: tuple[FilePart, ...] = ()

    def same_content(self, other: PartRecord) -> bool:
        """Bytes of this one can be used for ``other``."""
        if self.sha256 and other.sha256:
            return self.sha256 == other.sha256
        return bool(self.etag) and self.etag == other.etag and self.size == other.size


def part_path(target: Path) -> Path:
    """Where the bytes of ``target`` gather."""
    return target.with_name(target.name + PART)


def record_path(target: Path) -> Path:
    """Where the record of ``target`` lies."""
    return target.with_name(target.name + RECORD)


def read_record(path: Path) -> PartRecord | None:
    """The record at ``path``, or None when there is none that makes sense."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=PartRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def write_record(target: Path, record: PartRecord) -> None:
    """Save ``record`` for ``target``, whole or not at all."""
    path = record_path(target)
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(msgspec.json.encode(record))
        new.replace(path)
    except OSError as error:
        raise write_error(error, path) from error


def remove_partial(target: Path) -> int:
    """Delete what is here of ``target``; gives the bytes that were there."""
    size = 0
    with contextlib.suppress(OSError):
        size = part_path(target).stat().st_size
    for path in (part_path(target), record_path(target)):
        path.unlink(missing_ok=True)
    return size


class Partial:
    """An open ``.part`` file with the hash of what it holds. One process at a time has it."""

    def __init__(self, target: Path) -> None:
        """Open or make it. Raises VrambleError: ``already-downloading`` or as in `write_error`."""
        self._target = target
        path = part_path(target)
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise write_error(error, path) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise VrambleError(
                "already-downloading", f"{target.name} is being downloaded already.", "Wait for it, or cancel it."
            ) from None
        except OSError:
            pass  # a file system without locks
        self.size = os.fstat(self._fd).st_size
        self._hash: _Hash = hashlib.sha256()
        self._hashed = 0

    def close(self) -> None:
        """Let go of the file; the bytes stay."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def start_over(self) -> None:
        """Forget all bytes."""
        os.ftruncate(self._fd, 0)
        self.size = self._hashed = 0
        self._hash = hashlib.sha256()

    def rehash(self, report: Callable[[int], None]) -> None:
        """Hash the bytes that are there; ``report`` gets how many are done."""
        for block in self._blocks():
            self._hash.update(block)
            self._hashed += len(block)
            report(self._hashed)

    def _blocks(self) -> Iterator[bytes]:
        while self._hashed < self.size:
            block = os.pread(self._fd, min(CHUNK, self.size - self._hashed), self._hashed)
            if not block:
                return
            yield block

    def append(self, data: bytes) -> None:
        """Write ``data`` at the end. Raises VrambleError for a full disk and the like."""
        view = memoryview(data)
        while view:
            try:
                count = os.pwrite(self._fd, view, self.size)
            except OSError as error:
                raise write_error(error, part_path(self._target)) from error
            self._hash.update(view[:count])
            self.size += count
            self._hashed += count
            view = view[count:]

    def sync(self) -> None:
        """Bring the bytes to the disk."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise write_error(error, part_path(self._target)) from error

    def sha256(self) -> str:
        """Of all bytes, as 64 hexadecimal digits."""
        return self._hash.hexdigest()
