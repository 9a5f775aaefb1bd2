"""Reading sysfs and procfs below a root, where any file may be missing, refused or nonsense."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.memory.open_files import OpenFiles

log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024
"""More than any file we read; a longer one is cut."""

PART_BYTES = 16 * 1024

SYSROOT_VARIABLE = "VRAMBLE_SYSROOT"


def sysroot(environ: Mapping[str, str] | None = None) -> Path:
    """Folder that holds ``sys/`` and ``proc/``: ``VRAMBLE_SYSROOT``, else the machine itself."""
    env = os.environ if environ is None else environ
    return Path(env.get(SYSROOT_VARIABLE) or "/")


def read_file(path: str) -> bytes:
    """The content of ``path``, at most `MAX_BYTES`. Raises OSError.

    These files are made whole when they are read, so a short part is the last one.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        data = part = os.read(handle, PART_BYTES)
        while len(part) == PART_BYTES and len(data) < MAX_BYTES:
            part = os.read(handle, PART_BYTES)
            data += part
        return data
    finally:
        os.close(handle)


class Tree:
    """The files below ``root``. Paths are relative to it, such as ``sys/class/drm``.

    A failed read is a value, None. The log says it once for each file and kind of error.

    Args:
        root: Folder that holds ``sys`` and ``proc``.
        read: Reads one file; tests hand in one that counts or fails.
    """

    def __init__(self, root: Path, read: Callable[[str], bytes] = read_file) -> None:
        self._prefix = str(root).rstrip("/") + "/"
        self._read = read
        self._files = OpenFiles()
        self._again = self._files.read if read is read_file else read
        self._reported: set[tuple[str, int | None]] = set()

    def text(self, path: str) -> str | None:
        """The text of a file that should be there."""
        try:
            return self._read(self._prefix + path).decode("utf-8", "replace")
        except OSError as error:
            self._report(path, error)
            return None

    def passing(self, path: str) -> str | None:
        """The text of a file that may go away at any time, such as those of a process: never logged."""
        try:
            return self._read(self._prefix + path).decode("utf-8", "replace")
        except OSError:
            return None

    def passing_bytes(self, path: str) -> bytes | None:
        """The same, undecoded."""
        try:
            return self._read(self._prefix + path)
        except OSError:
            return None

    def live(self, path: str) -> str | None:
        """The text of a file that should be there and is read every second: it stays open in between."""
        try:
            return self._again(self._prefix + path).decode("utf-8", "replace")
        except OSError as error:
            self._report(path, error)
            return None

    def live_bytes(self, path: str) -> bytes | None:
        """The same of a file that may go away at any time: never logged."""
        try:
            return self._again(self._prefix + path)
        except OSError:
            return None

    def release(self, path: str) -> None:
        """Let go of a file that was read live."""
        self._files.close(self._prefix + path)

    def names(self, path: str) -> list[str]:
        """The names in a folder, sorted; empty when it cannot be listed."""
        return sorted(self.listing(path))

    def listing(self, path: str) -> list[str]:
        """The names in a folder in the kernel's order; empty when it cannot be listed."""
        try:
            return os.listdir(self._prefix + path)  # noqa: PTH208 - a name is all we need, 300 times a second
        except OSError:
            return []

    def link(self, path: str) -> str | None:
        """Where a symbolic link points, as it is written."""
        try:
            return os.readlink(self._prefix + path)  # noqa: PTH115 - the target is not a path of this tree
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether there is anything of this name. Looks without opening, so it wakes nothing."""
        return os.path.lexists(self._prefix + path)

    def _report(self, path: str, error: OSError) -> None:
        key = (path, error.errno)
        if key in self._reported:
            return
        self._reported.add(key)
        level = logging.DEBUG if error.errno == errno.ENOENT else logging.INFO
        log.log(level, "%s is not available: %s", path, error.strerror or error)
