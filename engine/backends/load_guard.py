"""Remembers which plugin is being loaded, so that one which ends or hangs the engine does so only once.

A marker file lies in the user's backends folder while a plugin is loaded, and is removed afterwards. One that is still
there when the next process starts means that loading it was the last thing the engine did.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.memory.tree import Tree

BOOT_ID = "proc/sys/kernel/random/boot_id"
HANGS_AFTER_SECONDS = 10.0
"""A load that takes longer counts as hanging also when somebody ended the process on purpose."""

_MOST_BYTES = 4096


class _Mark(msgspec.Struct, frozen=True):
    """What is being loaded. It counts for the same file and the same start of the system only: both can mend it."""

    size: int
    mtime_ns: int
    boot: str
    times: int = 1


@dataclass(frozen=True)
class _Open:
    handle: int
    path: Path
    since: float


class LoadGuard:
    """The markers of one process.

    Args:
        folder: Where markers lie; None: nothing is guarded. It is made when needed; where it cannot be written, loading
            goes on unguarded.
        tree: Tells this start of the system from others.
    """

    def __init__(self, folder: Path | None, tree: Tree, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._boot = (tree.text(BOOT_ID) or "").strip()
        self._clock = clock
        self._open: _Open | None = None

    def begin(self, name: str, plugin: Path | None = None, patience: int = 1) -> str | None:
        """Mark ``name`` as being loaded. None: go on, and call `end` afterwards; else the sentence why not to.

        Args:
            plugin: The file; another size or time of change voids what was remembered.
            patience: After so many ends in a row it is left out.
        """
        opened = self._lock(name)
        if opened is None:
            return None
        mark = self._mark(plugin)
        before = _read(opened.handle)
        times = before.times if before and (before.size, before.mtime_ns, before.boot) == _identity(mark) else 0
        if times >= patience:
            os.close(opened.handle)
            return _left_out(times, opened.path)
        _write(opened.handle, msgspec.structs.replace(mark, times=times + 1))
        self._open = opened
        return None

    def end(self) -> None:
        """Loading came to its end, whatever the result."""
        opened, self._open = self._open, None
        if opened is not None:
            _clear(opened)
            os.close(opened.handle)

    def wanted_end(self) -> None:
        """The process is about to be ended on purpose: what is being loaded is not to blame, unless it hangs.

        May be called from another thread while `begin` to `end` runs.
        """
        opened = self._open
        if opened is not None and self._clock() - opened.since < HANGS_AFTER_SECONDS:
            # By name only: `end` may be closing the handle, and its number then belongs to another file.
            _remove(opened.path)

    def _lock(self, name: str) -> _Open | None:
        """The marker, locked; None where there is none to be had or another process is loading the same."""
        if self._folder is None:
            return None
        path = self._folder / f".{name}.loading"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
        return _Open(handle, path, self._clock())

    def _mark(self, plugin: Path | None) -> _Mark:
        try:
            state = plugin.stat() if plugin is not None else None
        except OSError:
            state = None
        return _Mark(state.st_size if state else 0, state.st_mtime_ns if state else 0, self._boot)


def _identity(mark: _Mark) -> tuple[int, int, str]:
    return mark.size, mark.mtime_ns, mark.boot


def _left_out(times: int, marker: Path) -> str:
    how_often = "the last time" if times == 1 else f"the last {times} times"
    return (
        f"Loading it ended or blocked the engine {how_often}, so it is left out until it changes or the computer is "
        f"started again. To try it now, delete {marker}."
    )


def _read(handle: int) -> _Mark | None:
    try:
        return msgspec.json.decode(os.pread(handle, _MOST_BYTES, 0), type=_Mark)
    except (OSError, msgspec.DecodeError):
        return None


def _write(handle: int, mark: _Mark) -> None:
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, msgspec.json.encode(mark), 0)
    except OSError:
        return


def _clear(opened: _Open) -> None:
    """Emptied before it is removed: who has opened it meanwhile must not read it as an unfinished load."""
    try:
        os.ftruncate(opened.handle, 0)
    except OSError:
        return
    _remove(opened.path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
