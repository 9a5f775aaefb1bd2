"""Checks that the memory of a model came back after its process ended."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.notices import Notice, Notices, Severity
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.memory.freed import Unfreed, unfreed
from engine.memory.records import MemorySnapshot, ProcessMemory
from engine.memory.sizes import gib_number

NOTICE = "memory-not-freed"
FRESH_S = 15.0
"""An older sample before the end says nothing: other programs moved since."""

SETTLE_S, LATEST_S = 4.0, 60.0
"""The driver gets the first; a sample later than the second is not compared any more."""

GONE = (WorkerState.STOPPED, WorkerState.CRASHED)
MOST_NAMED = 3
ADVICE = "Close other programs that use the GPU, or restart the computer; vramble doctor looks at the driver."


class FreedCheck(QObject):
    """Compares the memory samples before and after each end of a worker; without samples it says nothing.

    Args:
        clock: Seconds, monotonic, the same clock as that of the samples.
    """

    def __init__(
        self,
        worker: WorkerService,
        notices: Notices,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._worker, self._notices, self._clock = worker, notices, clock
        self._last: MemorySnapshot | None = None
        self._before: MemorySnapshot | None = None
        self._ended = 0.0
        worker.state_changed.connect(self._follow)

    def take(self, snapshot: MemorySnapshot) -> None:
        """A new sample."""
        if self._before is None:
            if snapshot.worker is not None and snapshot.worker.gpus:
                self._last = snapshot
            return
        if snapshot.taken - self._ended < SETTLE_S:
            return
        before, self._before = self._before, None
        if snapshot.taken - self._ended > LATEST_S:
            return
        left = unfreed(before, snapshot)
        if left:
            text = " ".join(_sentence(card) for card in left)
            advice = (
                "Close other programs that use the GPU, or restart the computer; vramble doctor looks at the driver."
            )
            self._notices.post(Notice(NOTICE, Severity.WARN, f"{text} {advice}", "\n".join(map(_detail, left))))

    def _follow(self, state: WorkerState) -> None:
        if state in GONE:
            last, self._last = self._last, None
            if last is not None and self._clock() - last.taken <= FRESH_S:
                self._before, self._ended = last, self._clock()
        elif state in (WorkerState.STARTING, WorkerState.LOADING):
            self._before = None
            self._notices.withdraw(NOTICE)


def _sentence(card: Unfreed) -> str:
    return f"{gib_number(card.size)} GiB of the memory of {card.card} stay taken though the engine has ended."


def _detail(card: Unfreed) -> str:
    lines = [f"{card.card} ({card.pci}): {gib_number(card.size)} GiB unexplained"]
    lines += [_holder(process) for process in card.holders[:MOST_NAMED]] or ["no other process of yours holds any"]
    return "\n".join(lines)


def _holder(process: ProcessMemory) -> str:
    return f"{process.name} (process {process.pid}): {gib_number((process.vram or 0) + (process.gtt or 0))} GiB"
