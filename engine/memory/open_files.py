"""Kernel files that are read every second stay open: opening one costs more than reading it."""

from __future__ import annotations

import os

MOST_OPEN = 128
FIRST_PART = 4096
MAX_BYTES = 256 * 1024


class OpenFiles:
    """Reads whole files of sysfs and procfs, which are made anew at each read from their beginning.

    A file that went away is tried once more by its name, because another may stand there now. Not for use by several
    threads at once.
    """

    def __init__(self, most: int = MOST_OPEN) -> None:
        self._most = most
        self._handles: dict[str, int] = {}

    def read(self, path: str) -> bytes:
        """The content of ``path``, at most `MAX_BYTES`. Raises OSError."""
        handle = self._handles.get(path)
        if handle is not None:
            try:
                return _whole(handle)
            except OSError:
                self.close(path)
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = _whole(handle)
        except BaseException:
            os.close(handle)
            raise
        self._keep(path, handle)
        return data

    def _keep(self, path: str, handle: int) -> None:
        if len(self._handles) >= self._most:
            self.close(next(iter(self._handles)))
        self._handles[path] = handle

    def close(self, path: str) -> None:
        """Let go of one file, if it is open."""
        handle = self._handles.pop(path, None)
        if handle is not None:
            os.close(handle)

    def __len__(self) -> int:
        """How many are open."""
        return len(self._handles)

    def __del__(self) -> None:
        """Nothing stays open behind a reader that is gone."""
        for path in list(self._handles):
            self.close(path)


def _whole(handle: int) -> bytes:
    data = part = os.pread(handle, FIRST_PART, 0)
    while len(part) == FIRST_PART and len(data) < MAX_BYTES:
        part = os.pread(handle, FIRST_PART, len(data))
        data += part
    return data
