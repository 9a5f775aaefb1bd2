"""Memory figures for whoever watches: one sampler on one background thread, once a second."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from engine.memory.records import MemorySnapshot

INTERVAL_MS = 1000
HIDDEN_INTERVAL_MS = 10_000


class Sampler(Protocol):
    """Takes samples; called on the background thread only."""

    def sample(self, worker: int | None = None) -> MemorySnapshot:
        """What is true now; ``worker`` is the process whose share is told apart."""


class MemoryService(QObject):
    """Owner of the memory figures.

    A sample is asked for once a second while somebody watches, less often while the window is hidden, and
    not at all otherwise. A slow sample delays the next one: they never pile up.

    Attributes:
        sampled: A new `MemorySnapshot`.
        failed: A sample could not be taken, so no figure is current.
    """

    sampled = Signal(object)
    failed = Signal()

    def __init__(self, sampler: Sampler, executor: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sampler = sampler
        self._runner = SerialRunner(executor, self)
        self._snapshot: MemorySnapshot | None = None
        self._worker: int | None = None
        self._running = False
        self._again = False
        self._told = False
        self._closed = False
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._ask)

    @property
    def snapshot(self) -> MemorySnapshot | None:
        """The latest sample, or None before the first one and after a failure."""
        return self._snapshot

    @property
    def watched(self) -> bool:
        """Whether samples are being taken."""
        return self._timer.isActive()

    def set_watched(self, watched: bool) -> None:
        """Begin with a sample at once, or stop."""
        if watched == self._timer.isActive() or self._closed:
            return
        if watched:
            self._timer.start()
            self._ask()
        else:
            self._timer.stop()

    def set_hidden(self, hidden: bool) -> None:
        """Sample every ten seconds instead of every second while the window is minimised."""
        interval = HIDDEN_INTERVAL_MS if hidden else INTERVAL_MS
        if interval == self._timer.interval():
            return
        self._timer.setInterval(interval)
        if self._timer.isActive() and not hidden:
            self._ask()

    def set_worker(self, pid: int | None) -> None:
        """The process whose share is told apart from now on; None when there is no worker."""
        if pid == self._worker:
            return
        self._worker = pid
        if self._timer.isActive():
            self._again = self._running
            self._ask()

    def shutdown(self) -> None:
        """Take no more samples and wait for the one that may be running."""
        self._closed = True
        self._timer.stop()
        self._runner.close()

    def _ask(self) -> None:
        if self._running:
            return
        self._running = True
        worker, sampler = self._worker, self._sampler
        self._runner.run(lambda: sampler.sample(worker), self._take)

    def _take(self, result: Result[MemorySnapshot]) -> None:
        self._running = False
        if self._again:
            self._again = False
            self._ask()
        if isinstance(result, Err):
            self._fail(result.error)
            return
        snapshot = result.value
        self._snapshot = snapshot
        self.sampled.emit(snapshot)

    def _fail(self, error: Exception) -> None:
        """A bug in a reader: say so once, go on trying, and never leave old figures standing."""
        self._snapshot = None
        self.failed.emit()
        if not self._told:
            self._told = True
            raise error
