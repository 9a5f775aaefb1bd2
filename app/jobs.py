"""The one way to leave the GUI thread inside the process.

A `SerialRunner` runs functions one after the other on an executor that is handed in, and gives
each result back on the thread that owns the runner. Tests pass an executor they crank by hand.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

T = TypeVar("T")


@dataclass(frozen=True)
class Ok(Generic[T]):
    """The function returned ``value``."""

    value: T


@dataclass(frozen=True)
class Err:
    """The function raised ``error``; ``trace`` is for the crash report."""

    error: Exception
    trace: str


Result = Ok[T] | Err


class Executor(Protocol):
    """Runs functions later, one at a time, in order."""

    def submit(self, work: Callable[[], None]) -> None:
        """Queue ``work``."""

    def close(self) -> None:
        """Run what is queued, then end. Blocks until done."""


class ThreadExecutor:
    """One background thread."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def submit(self, work: Callable[[], None]) -> None:
        """Queue ``work`` on the thread."""
        self._pool.submit(work)

    def close(self) -> None:
        """Wait for the queue to empty and end the thread."""
        self._pool.shutdown(wait=True)


class SerialRunner(QObject):
    """Runs work off the GUI thread, in order, and hands results back on it."""

    _finished = Signal(object)

    def __init__(self, executor: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._executor = executor
        self._closed = False
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], T], done: Callable[[Result[T]], None] | None = None) -> None:
        """Call ``work`` on the executor, then ``done`` with its `Result` on this thread.

        After `close` nothing is delivered any more. Without ``done`` an error goes to the
        exception hook: work whose outcome nobody looks at must not fail silently.
        """

        def task() -> None:
            result: Result[T]
            try:
                result = Ok(work())
            except Exception as error:
                result = Err(error, traceback.format_exc())
            self._finished.emit((done, result))

        self._executor.submit(task)

    def close(self) -> None:
        """Finish queued work and stop delivering."""
        self._closed = True
        self._executor.close()

    def _deliver(self, item: tuple[Callable[[Result[T]], None] | None, Result[T]]) -> None:
        done, result = item
        if self._closed:
            return
        if done is not None:
            done(result)
        elif isinstance(result, Err):
            raise result.error
