"""Opening what somebody named: only regular files are read. Pipes, devices and their like may never end."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path


def open_regular(path: Path) -> FileIO:
    """The file at ``path``, links followed, for reading without a buffer. Never waits for a writer.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return FileIO(handle)
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path) -> bytes:
    """The content of the file at ``path``. Raises OSError, as `open_regular` does."""
    with open_regular(path) as file:
        return file.readall()


def read_block(file: FileIO, view: memoryview, left: int) -> int:
    """Read into ``view``, at most ``left`` bytes; 0 at the end.

    ``left`` is what the file still has by its size: files that the kernel makes up, such as ``/proc/kmsg``, have none
    and wait for more.
    """
    return file.readinto(view[: min(left, len(view))]) or 0 if left > 0 else 0
