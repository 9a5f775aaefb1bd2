"""Room on the disk, and what went wrong when writing."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from engine.errors import VrambleError
from engine.library.names import shown
from engine.library.sizes import size_text

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


def no_space(folder: Path, sentence: str = "The disk is full.") -> VrambleError:
    """The disk has no room left."""
    step = "Free some space, then resume: what was downloaded stays."
    return VrambleError("no-space", sentence, step, shown(folder))


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
