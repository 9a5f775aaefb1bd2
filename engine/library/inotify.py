"""What changes in folders, told by the kernel (inotify(7)).

Qt's own watcher does not say when a file that was being written is closed, and a model takes minutes to be copied:
so this asks for that, and for what comes, goes and is renamed.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.library.walk import LEFT_OVER

log = logging.getLogger(__name__)

IN_CLOSE_WRITE = 0x8
IN_MOVED_FROM = 0x40
IN_MOVED_TO = 0x80
IN_CREATE = 0x100
IN_DELETE = 0x200
IN_DELETE_SELF = 0x400
IN_MOVE_SELF = 0x800
IN_UNMOUNT = 0x2000
IN_Q_OVERFLOW = 0x4000
IN_ISDIR = 0x40000000
IN_ONLYDIR = 0x01000000

WANTED = (
    IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
)
OF_ITSELF = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW
EVENT = struct.Struct("iIII")
MAX_FOLDERS = 4096
"""The kernel gives each user some thousands; others want some too."""

UNFINISHED = (".part", ".json", ".new", ".incomplete", ".tmp", ".lock", ".crdownload", LEFT_OVER)


class FolderWatch:
    """Watches folders, not what is below them. ``handle`` can be read when something happened."""

    def __init__(self) -> None:
        """Raises OSError: the kernel has none left, or is no Linux."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.handle = int(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if self.handle < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self._numbers: dict[bytes, int] = {}
        self._full = False

    def watch(self, folders: Iterable[Path]) -> int:
        """Watch these and no others; gives how many are watched. May wait for a slow drive: not on the GUI thread."""
        wanted = dict.fromkeys(os.fsencode(folder) for folder in folders)
        for gone in [path for path in self._numbers if path not in wanted]:
            self._libc.inotify_rm_watch(self.handle, self._numbers.pop(gone))
        for path in wanted:
            if len(self._numbers) >= MAX_FOLDERS or not self._add(path):
                break
        return len(self._numbers)

    def read(self) -> bool:
        """Take what happened; True when a model may have come, gone or changed. Never waits."""
        relevant = False
        while True:
            try:
                data = os.read(self.handle, 64 * 1024)
            except OSError:  # nothing more, or closed
                return relevant
            if not data:
                return relevant
            relevant |= any(is_relevant(mask, name) for mask, name in events_in(data))

    def close(self) -> None:
        """Watch nothing any more."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1
            self._numbers.clear()

    def _add(self, path: bytes) -> bool:
        """False when the kernel gives no more."""
        number = int(self._libc.inotify_add_watch(self.handle, ctypes.c_char_p(path), ctypes.c_uint32(WANTED)))
        if number >= 0:
            self._numbers[path] = number
        elif ctypes.get_errno() == errno.ENOSPC:
            if not self._full:
                log.info("not all folders can be watched: %s are", len(self._numbers))
            self._full = True
            return False
        return True


def events_in(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Mask and file name of each event."""
    at = 0
    while at + EVENT.size <= len(data):
        _, mask, _, length = EVENT.unpack_from(data, at)
        at += EVENT.size
        yield mask, data[at : at + length].rstrip(b"\0")
        at += length


def is_relevant(mask: int, name: bytes) -> bool:
    """Whether it can change what a scan finds: not the many steps of a download that is going on."""
    if mask & OF_ITSELF:
        return True
    text = os.fsdecode(name)
    if text.startswith(".") or text.endswith(UNFINISHED) or "-partial" in text:
        return False
    return bool(mask & IN_ISDIR) or not mask & IN_CREATE


class MountWatch:
    """Tells when a drive is mounted or taken away: the kernel marks ``handle`` as exceptional then (proc(5))."""

    def __init__(self, path: Path = Path("/proc/self/mounts")) -> None:
        """Raises OSError."""
        self.handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Watch no more."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1
