"""Backups and what is restored at the next start, off the GUI thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from app.notices import Notice, Severity, from_error
from app.paths import Paths
from engine.chat.file_locks import Hold, in_use
from engine.chat_files.backup import Manifest as Manifest
from engine.chat_files.backup import make
from engine.chat_files.restoring import Restored, apply, discard, stage, waiting_in
from engine.errors import VrambleError
from engine.version import program_version

T = TypeVar("T")


@dataclass(frozen=True)
class Places:
    """Where what belongs to a backup lies."""

    database: Path
    settings: Path
    waiting: Path


def places(paths: Paths) -> Places:
    """The places of this installation."""
    return Places(paths.database, paths.settings, paths.data / "restore-waiting")


def restore_waiting(paths: Paths) -> Restored | VrambleError | None:
    """Put what was staged in place, before anything is opened; what went wrong, or None when nothing waits."""
    here = places(paths)
    try:
        return apply(here.waiting, here.database, here.settings, now=time.time())
    except VrambleError as error:
        return error


def hold_data(paths: Paths) -> Hold:
    """What keeps others from putting a backup in place while this process has the data folder.

    For a window it begins before the settings are read, which a restore replaces too. Before there is a window: it may
    wait until a restore that is just putting files in place is done.
    """
    try:
        return in_use(paths.database, make_folder=True)
    except VrambleError:  # nothing a start could do about it; the database says so when it is opened
        return Hold()


def restored_notice(result: Restored | VrambleError) -> Notice:
    """What the user is told after `restore_waiting`."""
    if isinstance(result, VrambleError):
        return from_error("restored", result)
    count = result.manifest.conversations
    text = f"The backup with {count} conversations was restored. What was there before was kept beside it."
    return Notice("restored", Severity.INFO, text, "\n".join(map(str, result.kept)))


class BackupService(QObject):
    """One backup or restore at a time. What is restored is examined at once and put in place at the next start.

    Attributes:
        changed: `busy` or `waiting` changed.
        runner: Where large files are read and written; exports and imports use it too.
        waiting: What is put in place at the next start; None: nothing.
    """

    changed = Signal()

    def __init__(
        self, paths: Paths, executor: Executor, parent: QObject | None = None, *, hold: Hold | None = None
    ) -> None:
        """``hold``: of `hold_data`, let go with `shutdown`."""
        super().__init__(parent)
        self._places, self._hold = places(paths), hold
        self._closed = False
        self.runner = SerialRunner(executor, self)
        self.busy = False
        self.waiting: Manifest | None = None

    def look(self) -> None:
        """Find out what waits."""
        self._run(lambda: waiting_in(self._places.waiting), self._take_waiting)

    def back_up(self, target: Path, done: Callable[[Manifest | VrambleError], None]) -> bool:
        """Write a backup to ``target``. False: busy."""
        here = self._places

        def work() -> Manifest:
            program = program_version()
            return make(
                target, here.database, here.settings, program=program, now=time.time(), stopped=lambda: self._closed
            )

        return self._begin(work, done)

    def restore(self, source: Path, done: Callable[[Manifest | VrambleError], None]) -> bool:
        """Examine a backup; it takes its place at the next start. False: busy."""

        def taken(result: Manifest | VrambleError) -> None:
            if isinstance(result, Manifest):
                self._take_waiting(result)
            done(result)

        return self._begin(lambda: stage(source, self._places.waiting), taken)

    def give_up(self) -> None:
        """Nothing is put in place at the next start."""
        self._run(lambda: discard(self._places.waiting), lambda _result: self._take_waiting(None))

    def shutdown(self) -> None:
        """A backup that is being written is given up; what runs ends before this returns."""
        self._closed = True
        self.runner.close()
        if self._hold is not None:
            self._hold.release()

    def _begin(self, work: Callable[[], T], done: Callable[[T | VrambleError], None]) -> bool:
        if self.busy:
            return False
        self.busy = True
        self.changed.emit()

        def finished(result: T | VrambleError) -> None:
            self.busy = False
            self.changed.emit()
            done(result)

        self._run(work, finished)
        return True

    def _run(self, work: Callable[[], T], done: Callable[[T | VrambleError], None]) -> None:
        def deliver(result: Result[T]) -> None:
            if not isinstance(result, Err):
                done(result.value)
            elif isinstance(result.error, VrambleError):
                done(result.error)
            else:
                self.busy = False
                self.changed.emit()
                raise result.error

        self.runner.run(work, deliver)

    def _take_waiting(self, result: Manifest | VrambleError | None) -> None:
        self.waiting = result if isinstance(result, Manifest) else None
        self.changed.emit()
