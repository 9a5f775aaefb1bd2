"""Room on the disk, and what went wrong when writing."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from engine.errors import VrambleError
from engine.library.mounts import FAT, Mount, Mounts
from engine.library.names import shown
from engine.library.sizes import size_text
from engine.memory.tree import Tree, sysroot

WITHOUT_HOLES = FAT | {"exfat"}
"""File systems that fill a hole with zeros when something is written behind it."""

FreeSpace = Callable[[Path], int]
"""Free bytes for a normal user at a folder."""


def free_space(folder: Path) -> int:
    """Free bytes on the file system of ``folder``. Raises OSError."""
    return shutil.disk_usage(folder).free


def check_space(folder: Path, needed: int, reserve: int, free: FreeSpace = free_space) -> None:
    """Raise ``no-space`` with both numbers when ``needed`` bytes and ``reserve`` do not fit."""
    try:
        there = free(folder)
    except OSError:
        return
    if there < needed + reserve:
        raise no_space(folder, f"{size_text(needed)} more are needed and {size_text(there)} are free.")


def mount_of(target: Path) -> Mount | None:
    """The mount that ``target`` will lie on; None when that is not known."""
    try:
        return Mounts(Tree(sysroot())).of(target.parent.resolve())
    except OSError:
        return None


def check_file_size(target: Path, size: int) -> None:
    """Raise ``file-too-big`` when the file system of ``target`` cannot hold a file of ``size`` bytes."""
    mount = mount_of(target)
    limit = mount.file_limit if mount is not None else None
    if limit is not None and size > limit:
        raise VrambleError(
            "file-too-big",
            f"{shown(target.name)} has {size_text(size)}, and the drive's file system (FAT32) holds files of up to"
            f" {size_text(limit)}.",
            "Use a folder on a drive with another file system, such as ext4 or exFAT, or choose a smaller file.",
            shown(target.parent),
        )


def has_holes(target: Path) -> bool:
    """The file system of ``target`` keeps holes in files for nothing."""
    mount = mount_of(target)
    return mount is None or mount.file_system not in WITHOUT_HOLES


def no_space(folder: Path, sentence: str = "The disk is full.") -> VrambleError:
    """The disk has no room left."""
    step = "Free some space, then resume: what was downloaded stays."
    return VrambleError("no-space", sentence, step, shown(folder))


def unsteady_disk() -> VrambleError:
    """What was written a moment ago cannot be read."""
    return VrambleError(
        "disk-unsteady",
        "The drive does not give back what was written to it.",
        "Use a folder on another drive, and do not trust this one.",
    )


def write_error(error: OSError, path: Path) -> VrambleError:
    """The sentence for a failed write, open or rename below the models folder."""
    folder = shown(path.parent)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_space(path.parent)
    if error.errno == errno.EFBIG:
        message = "The file system of the models folder cannot hold a file of this size."
        return VrambleError("file-too-big", message, "Use a folder on another drive.", folder)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        message = f"The models folder cannot be written to: {os.strerror(error.errno)}."
        return VrambleError("not-writable", message, "Check who owns the folder.", folder)
    reason = error.strerror or str(error)
    message = f"Writing to the models folder failed: {reason}."
    return VrambleError("write-failed", message, "Check the drive, then resume.", shown(path))
