"""What is in a folder, for a picker inside the window. Blocks: a card that sleeps answers late."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from engine.library.mounts import REMOVABLE_PLACES

MOST = 5000
"""Entries of a folder that are told."""


class FolderEntry(msgspec.Struct, frozen=True):
    """A folder or a file. ``size`` in bytes, of folders 0."""

    path: Path
    is_folder: bool
    size: int = 0


class FolderList(msgspec.Struct, frozen=True):
    """A folder.

    Attributes:
        path: Which one.
        parent: The one above, None at the top.
        entries: Folders first, then files, each by name; hidden ones are left out.
        problem: Why it cannot be read, else empty.
    """

    path: Path
    parent: Path | None
    entries: tuple[FolderEntry, ...] = ()
    problem: str = ""


class StartPlace(msgspec.Struct, frozen=True):
    """Where looking for files may begin.

    Attributes:
        is_drive: It can be taken out.
        free: Bytes that can be written there, None where the system does not say.
    """

    path: Path
    is_drive: bool = False
    free: int | None = None


REASONS = {
    errno.EACCES: "You are not allowed to look into this folder.",
    errno.EPERM: "You are not allowed to look into this folder.",
    errno.ENOENT: "This folder is not there any more.",
    errno.ENOTDIR: "This is not a folder.",
    errno.EIO: "This folder cannot be read: the drive reports an error.",
    errno.ENODEV: "The drive with this folder was taken out.",
}


def list_folder(path: Path, suffixes: Iterable[str] = (".gguf",)) -> FolderList:
    """Folders in ``path`` and its files that end in one of ``suffixes`` ("": every file). Never raises OSError."""
    parent = path.parent if path.parent != path else None
    wanted = tuple(suffixes)
    found: list[FolderEntry] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and (one := _entry(entry, wanted)) is not None:
                    found.append(one)
                if len(found) >= MOST:
                    break
    except OSError as error:
        reason = REASONS.get(error.errno or 0, f"This folder cannot be read: {error.strerror or error}.")
        return FolderList(path, parent, (), reason)
    return FolderList(path, parent, tuple(sorted(found, key=_order)))


def start_places(home: Path, roots: Iterable[str] = REMOVABLE_PLACES) -> tuple[StartPlace, ...]:
    """Where looking for files begins: the home folder, downloads, and the drives that can be taken out."""
    found = [StartPlace(home, free=_free(home))]
    downloads = home / "Downloads"
    if downloads.is_dir():
        found.append(StartPlace(downloads))
    for root in roots:
        found += [StartPlace(drive, is_drive=True, free=_free(drive)) for drive in _drives(Path(root))]
    return tuple({place.path: place for place in found}.values())


def _free(path: Path) -> int | None:
    try:
        room = os.statvfs(path)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize


def _drives(root: Path) -> list[Path]:
    """Mount points below ``root``, also one level deeper: ``/run/media/deck/SD``."""
    drives: list[Path] = []
    for folder in list_folder(root).entries:
        if folder.is_folder and _is_mount(folder.path):
            drives.append(folder.path)
        elif folder.is_folder:
            drives += [one.path for one in list_folder(folder.path).entries if one.is_folder and _is_mount(one.path)]
    return drives


def _is_mount(path: Path) -> bool:
    try:
        return path.is_mount()
    except OSError:
        return False


def _entry(entry: os.DirEntry[str], suffixes: tuple[str, ...]) -> FolderEntry | None:
    try:
        if entry.is_dir():
            return FolderEntry(Path(entry.path), True)
        if entry.name.lower().endswith(suffixes) and entry.is_file():
            return FolderEntry(Path(entry.path), False, entry.stat().st_size)
    except OSError:
        return None
    return None


def _order(entry: FolderEntry) -> tuple[bool, str]:
    return not entry.is_folder, entry.path.name.casefold()
