"""Copies that are read back from the drive before the original goes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import VrambleError
from engine.library.hashing import BLOCK, Progress, sha256_of
from engine.library.names import shown
from engine.library.regular import open_regular, read_block
from engine.library.walk import LEFT_OVER


class Pair(msgspec.Struct, frozen=True):
    """One file and where it should be."""

    source: Path
    target: Path


def temporary(target: Path) -> Path:
    """Name under which a copy grows: hidden, in the same folder, and short enough for every file system."""
    digest = hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    return target.with_name(f".{digest}{LEFT_OVER}")


def copy_all(pairs: Sequence[Pair], progress: Progress, *, keep_source: bool) -> tuple[str, ...]:
    """Copy all sources to their targets, read back and compared, then remove the sources. Gives each sha256.

    Raises:
        VrambleError: ``copy-differs``; ``source-stays`` when everything is there twice.
        OSError, StoppedError: Nothing is left at the targets, the sources are whole.
    """
    drafts: list[tuple[Path, int]] = []
    placed: list[Path] = []
    hashes = []
    try:
        for pair in pairs:
            draft = temporary(pair.target)
            drafts.append((draft, open_draft(draft)))
            hashes.append(_copy(pair.source, draft, drafts[-1][1], progress))
        for pair, (draft, _) in zip(pairs, drafts, strict=True):
            if os.path.lexists(pair.target):  # it came while the copy grew
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(pair.target))
            draft.rename(pair.target)
            placed.append(pair.target)
        sync_folder(pairs[0].target.parent)
    except BaseException:
        for path in (*(draft for draft, _ in drafts), *placed):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        raise
    finally:
        for _, handle in drafts:
            os.close(handle)
    if not keep_source:
        _remove_sources(pairs)
    return tuple(hashes)


def open_draft(draft: Path) -> int:
    """Open and lock the hidden file ``draft``, emptied. Raises OSError, VrambleError: ``busy``."""
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise VrambleError("busy", "The same file is being brought there already.", "Wait for it to end.") from None
    except OSError:
        pass  # a file system without locks
    os.ftruncate(handle, 0)
    return handle


def _copy(source: Path, draft: Path, handle: int, progress: Progress) -> str:
    """Copy into the open ``draft`` and compare what the drive then holds. Gives the sha256."""
    digest = hashlib.sha256()
    buffer = bytearray(BLOCK)
    view = memoryview(buffer)
    at = 0
    with open_regular(source) as file:
        info = os.fstat(file.fileno())
        while count := read_block(file, view, info.st_size - at):
            digest.update(view[:count])
            _write(handle, view[:count], at)
            at += count
            progress.add(count)
    os.ftruncate(handle, at)
    os.fsync(handle)
    os.utime(handle, ns=(info.st_atime_ns, info.st_mtime_ns))
    if sha256_of(draft, progress, from_disk=True) != digest.hexdigest():
        raise VrambleError(
            "copy-differs",
            f"The copy of {shown(source.name)} is not the same as the original: the drive gave back other bytes.",
            "The original is untouched. Check the drive.",
            shown(draft.parent),
        )
    return digest.hexdigest()


def _write(handle: int, data: memoryview, offset: int) -> None:
    while data:
        count = os.pwrite(handle, data, offset)
        data, offset = data[count:], offset + count


def _remove_sources(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        try:
            pair.source.unlink()
        except OSError as error:
            raise VrambleError(
                "source-stays",
                f"The copy is there and right, but the original of {shown(pair.source.name)} could not be deleted:"
                f" {error.strerror or error}.",
                "Delete the original where it lies.",
                shown(pair.source),
            ) from error


def sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
