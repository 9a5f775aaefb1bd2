"""Bringing files to another folder: whole or not at all, and the source goes last.

A copy grows under a hidden name, is brought to the disk, read back from it and compared; only then it gets its
name, and only when all files of a model have theirs the source is removed. Whatever ends the program in between
leaves the source whole, and a hidden rest that the next scan sweeps away.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.errors import VrambleError
from engine.library.copying import Pair, copy_all, sync_folder
from engine.library.deletion import remove_empty
from engine.library.hashing import Progress
from engine.library.names import shown
from engine.library.sizes import size_text

RESERVE_BYTES = 64 * 1024 * 1024
FICLONE = 0x40049409
"""``ioctl`` that makes a file share the blocks of another (linux/fs.h)."""


class How(StrEnum):
    """What becomes of the source."""

    MOVE = "move"
    COPY = "copy"
    LINK = "link"
    """One file with two names where that works: hard link, shared blocks, else a symbolic link."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What the target folder's file system allows. None: not known, or no limit."""

    free: int | None = None
    file_limit: int | None = None


def check_room(pairs: Sequence[Pair], folder: Path, room: Room) -> None:
    """Raise ``no-space`` or ``file-too-big`` when copies of all sources do not fit."""
    sizes = [pair.source.stat().st_size for pair in pairs]
    if room.file_limit is not None and max(sizes, default=0) > room.file_limit:
        raise VrambleError(
            "file-too-big",
            f"The drive's file system (FAT32) holds files of up to {size_text(room.file_limit)}; this one has"
            f" {size_text(max(sizes))}.",
            "Choose a drive with another file system, such as ext4 or exFAT.",
            shown(folder),
        )
    if room.free is not None and room.free < sum(sizes) + RESERVE_BYTES:
        raise VrambleError(
            "no-space",
            f"{size_text(sum(sizes))} are needed and {size_text(room.free)} are free.",
            "Free some space there, or choose another drive.",
            shown(folder),
        )


def move_files(pairs: Sequence[Pair], progress: Progress, room: Room, *, keep_source: bool = False) -> tuple[str, ...]:
    """Bring all sources to their targets; gives the sha256 of each that was copied, empty for a renamed one.

    ``keep_source`` makes copies. ``progress.total`` is set: a copied byte counts twice, for it is read back.

    Raises:
        VrambleError: ``already-there``, ``no-space``, ``file-too-big``, ``copy-differs``, ``move-failed``.
        StoppedError: It was cancelled; the source is whole, nothing is left at the target.
    """
    folder = pairs[0].target.parent
    there = next((above for above in folder.parents if above.is_dir()), folder.parent)
    try:
        with _taken_back(folder, there):
            return _brought(pairs, folder, progress, room, keep_source=keep_source)
    except OSError as error:
        raise _failed(pairs[0], error) from error


@contextlib.contextmanager
def _taken_back(folder: Path, there: Path) -> Iterator[None]:
    """Folders that were made for nothing go again: up to ``there``, which was there before."""
    made = not folder.exists()
    try:
        yield
    except BaseException:
        if made:
            remove_empty(folder, there)
        raise


def _brought(
    pairs: Sequence[Pair], folder: Path, progress: Progress, room: Room, *, keep_source: bool
) -> tuple[str, ...]:
    _refuse_existing(pairs)
    folder.mkdir(parents=True, exist_ok=True)
    if not keep_source and all(_same_drive(pair.source, folder) for pair in pairs):
        return _rename(pairs)
    check_room(pairs, folder, room)
    progress.total = 2 * sum(pair.source.stat().st_size for pair in pairs)
    return copy_all(pairs, progress, keep_source=keep_source)


def link_file(pair: Pair) -> str:
    """Give ``pair.source`` a second name: ``hard``, ``reflink`` or ``symbolic`` says how.

    Raises:
        VrambleError: ``already-there``, ``no-links``, ``move-failed``.
    """
    try:
        _refuse_existing((pair,))
        pair.target.parent.mkdir(parents=True, exist_ok=True)
        source = pair.source.resolve(strict=True)
        with contextlib.suppress(OSError):
            os.link(source, pair.target)
            return "hard"
        if reflink(source, pair.target):
            return "reflink"
        pair.target.symlink_to(source)
        return "symbolic"
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            text = f"The drive of {shown(pair.target.parent)} holds no links."
            raise VrambleError("no-links", text, "Copy or move the file instead.", str(error)) from error
        raise _failed(pair, error) from error


def reflink(source: Path, target: Path) -> bool:
    """Make ``target`` a file that shares the blocks of ``source``; False where the file system cannot."""
    try:
        with source.open("rb") as file, target.open("xb") as new:
            try:
                fcntl.ioctl(new.fileno(), FICLONE, file.fileno())
            except OSError:
                target.unlink()
                return False
        shutil.copystat(source, target)
    except OSError:
        return False
    return True


def _refuse_existing(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        if os.path.lexists(pair.target):
            raise VrambleError(
                "already-there",
                f"Another file is already at {shown(pair.target)}.",
                "Rename or delete it, or choose another folder.",
            )


def _same_drive(source: Path, folder: Path) -> bool:
    return not source.is_symlink() and source.stat().st_dev == folder.stat().st_dev


def _rename(pairs: Sequence[Pair]) -> tuple[str, ...]:
    done: list[Pair] = []
    try:
        for pair in pairs:
            pair.source.rename(pair.target)
            done.append(pair)
    except OSError as error:
        _rename_back(done, error)
        raise
    sync_folder(pairs[0].target.parent)
    return ("",) * len(pairs)


def _rename_back(done: Sequence[Pair], cause: OSError) -> None:
    """Undo renames; raises VrambleError ``half-moved`` with what stays at its target."""
    stay = []
    for pair in reversed(done):
        try:
            pair.target.rename(pair.source)
        except OSError:
            stay.append(pair)
    if stay:
        names = ", ".join(shown(pair.source.name) for pair in reversed(stay))
        where, reason = shown(stay[0].target.parent), cause.strerror or str(cause)
        text = f"The move was broken off: {reason}. {names} could not be brought back and is in {where} now."
        details = "\n".join(shown(pair.target) for pair in reversed(stay))
        raise VrambleError(
            "half-moved", text, "Put all files of the model into one folder by hand.", details
        ) from cause


def _failed(pair: Pair, error: OSError) -> VrambleError:
    name = shown(pair.source.name)
    where = shown(pair.target.parent)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return VrambleError("no-space", f"The drive of {where} is full.", "The original is untouched; free some space.")
    if error.errno == errno.EFBIG:
        return VrambleError(
            "file-too-big", f"The file system of {where} cannot hold a file of this size.", "Choose another drive."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        step = "Check who owns the folders and whether they can be written to."
        return VrambleError("move-failed", f"{name} may not be moved: {os.strerror(error.errno)}.", step, str(error))
    reason = error.strerror or str(error)
    return VrambleError(
        "move-failed", f"{name} could not be brought to {where}: {reason}.", "Check both drives.", str(error)
    )
