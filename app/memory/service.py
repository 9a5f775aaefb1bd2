"""Memory figures for whoever watches: one sampler on one background thread, once a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from app.memory.history import History, Marker, MarkerKind
from engine.memory.owners import model_shares, reported_gpus
from engine.memory.records import MemorySnapshot
from engine.protocol.types import DeviceInfo, ModelInfo

INTERVAL_MS = 1000
HIDDEN_INTERVAL_MS = 10_000
MOST_SHARE = 0.005
"""Of one core, for sampling: dear samples are taken less often, down to `HIDDEN_INTERVAL_MS`."""

COST_STEP_MS = 500


class Sampler(Protocol):
    """Takes samples; called on the background thread only."""

    def sample(self, worker: int | None = None) -> MemorySnapshot:
        """What is true now; ``worker`` is the process whose share is told apart."""


class MemoryService(QObject):
    """Owner of the memory figures.

    A sample is asked for once a second while somebody watches, less often while the window is hidden, as often as
    `guard` asks for, and not at all otherwise. A slow sample delays the next one: they never pile up; on a machine
    where samples are dear they become rarer.

    Attributes:
        sampled: A new `MemorySnapshot`.
        failed: A sample could not be taken, so no figure is current.
        history: The last ten minutes.
    """

    sampled = Signal(object)
    failed = Signal()

    def __init__(
        self,
        sampler: Sampler,
        executor: Executor,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.history = History()
        self._sampler, self._clock = sampler, clock
        self._devices: Sequence[DeviceInfo] = ()
        self._model: ModelInfo | None = None
        self._runner = SerialRunner(executor, self)
        self._snapshot: MemorySnapshot | None = None
        self._worker: int | None = None
        self._running = False
        self._again = False
        self._told = False
        self._closed = False
        self._watched = self._hidden = False
        self._guard: int | None = None
        self._cost_s = 0.0
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
        if watched == self._watched or self._closed:
            return
        self._watched = watched
        self._set_rhythm(at_once=watched)

    def set_hidden(self, hidden: bool) -> None:
        """Sample every ten seconds instead of every second while the window is minimised."""
        if hidden == self._hidden:
            return
        self._hidden = hidden
        self._set_rhythm(at_once=not hidden)

    def guard(self, interval_ms: int | None) -> None:
        """Sample at least so often, whoever watches; None: nothing has to be guarded."""
        if interval_ms == self._guard or self._closed:
            return
        self._guard = interval_ms
        self._set_rhythm(at_once=not self._timer.isActive())

    def _set_rhythm(self, *, at_once: bool) -> None:
        watching = (HIDDEN_INTERVAL_MS if self._hidden else INTERVAL_MS) if self._watched else None
        wanted = [interval for interval in (watching, self._guard) if interval is not None]
        if not wanted or self._closed:
            self._timer.stop()
            return
        dear = min(HIDDEN_INTERVAL_MS, int(self._cost_s * 1000 / MOST_SHARE) // COST_STEP_MS * COST_STEP_MS)
        interval = max(min(wanted), dear)
        if interval != self._timer.interval():
            self._timer.setInterval(interval)
        if not self._timer.isActive():
            self._timer.start()
        if at_once:
            self._ask()

    def set_worker(self, pid: int | None) -> None:
        """The process whose share is told apart from now on; None when there is no worker."""
        if pid == self._worker:
            return
        self._worker = pid
        if self._timer.isActive():
            self._again = self._running
            self._ask()

    def set_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """What the engine named: cards that the kernel's readers do not know are told by its figures."""
        self._devices = devices

    def set_model(self, model: ModelInfo | None) -> None:
        """The model that is loaded from now on, or None; marked in the history."""
        if model == self._model:
            return
        gone, self._model = self._model, model
        if model is not None:
            self.history.mark(Marker(at=self._clock(), kind=MarkerKind.LOAD, text=model.name))
        elif gone is not None:
            self.history.mark(Marker(at=self._clock(), kind=MarkerKind.UNLOAD, text=gone.name))

    def set_answering(self, answering: bool) -> None:
        """An answer begins, or none runs any more; marked in the history."""
        if answering:
            self.history.begin_answer(self._clock(), self._model.name if self._model is not None else "")
        else:
            self.history.end_answer(self._clock())

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

        def work() -> tuple[MemorySnapshot, float]:
            begin = time.thread_time()
            return sampler.sample(worker), time.thread_time() - begin

        self._runner.run(work, self._take)

    def _take(self, result: Result[tuple[MemorySnapshot, float]]) -> None:
        self._running = False
        if self._again:
            self._again = False
            self._ask()
        if isinstance(result, Err):
            self._fail(result.error)
            return
        snapshot, cost = result.value
        if self._snapshot is not None:  # the first one reads much that is kept afterwards
            self._cost_s += (cost - self._cost_s) / 8
        if self._timer.isActive():
            self._set_rhythm(at_once=False)
        snapshot = self._told_by_engine(snapshot)
        self._snapshot = snapshot
        self.history.add(snapshot)
        self.sampled.emit(snapshot)

    def _told_by_engine(self, snapshot: MemorySnapshot) -> MemorySnapshot:
        reported, model = reported_gpus(self._devices, snapshot), model_shares(self._model)
        return msgspec.structs.replace(snapshot, reported=reported, model=model) if reported or model else snapshot

    def _fail(self, error: Exception) -> None:
        """A bug in a reader: say so once, go on trying, and never leave old figures standing."""
        self._snapshot = None
        self.failed.emit()
        if not self._told:
            self._told = True
            raise error
