"""The store behind the database thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from app.jobs import Err, Result, SerialRunner
from engine.chat.store import Store
from engine.chat.temporary import StoreWithTemporary
from engine.errors import VrambleError

T = TypeVar("T")


class ChatDatabase:
    """Runs calls of the `Store` on ``runner``, in order. The first one opens it.

    Where the database cannot be opened at all (a newer version, a failed migration), an empty
    one takes its place for this run; `remarks` says so.
    """

    def __init__(self, path: Path, runner: SerialRunner, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._runner = runner
        self._now = now
        self._store: Store | None = None

    def call(self, work: Callable[[Store], T], done: Callable[[T | VrambleError], None]) -> None:
        """Run ``work`` on the database thread and hand its value, or what went wrong, to ``done`` on this one.

        An error of the program is raised after ``done``, so that nobody waits for an outcome.
        """
        self._runner.run(lambda: work(self._opened()), lambda result: self._hand_over(result, done))

    def remarks(self, done: Callable[[tuple[VrambleError, ...] | VrambleError], None]) -> None:
        """What the user should be told about the opening."""
        self.call(lambda store: store.remarks, done)

    def close(self, done: Callable[[], None]) -> None:
        """Close after everything that was asked for; then ``done``."""

        def work() -> None:
            if self._store is not None:
                self._store.close()
                self._store = None

        def closed(result: Result[None]) -> None:
            done()
            if isinstance(result, Err):
                raise result.error

        self._runner.run(work, closed)

    def _opened(self) -> Store:
        """On the database thread."""
        if self._store is None:
            try:
                self._store = StoreWithTemporary.open(self._path, self._now)
            except VrambleError as reason:
                self._store = StoreWithTemporary.private(self._path, reason, self._now)
        return self._store

    def _hand_over(self, result: Result[T], done: Callable[[T | VrambleError], None]) -> None:
        if not isinstance(result, Err):
            done(result.value)
        elif isinstance(result.error, VrambleError):
            done(result.error)
        else:
            done(_bug(result))
            raise result.error


def _bug(result: Err) -> VrambleError:
    return VrambleError(
        "chat-bug",
        "Something went wrong inside Vramble while conversations were read or saved.",
        "Copy what matters before you close the window; the details can be reported.",
        result.trace,
    )
