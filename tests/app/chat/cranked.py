"""An executor that the test turns by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent


class Cranked:
    """Work waits until `turn`; its results are then delivered to whoever waits for them."""

    def __init__(self) -> None:
        self.waiting: deque[Callable[[], None]] = deque()
        self.done = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Queue ``work``."""
        self.waiting.append(work)

    def turn(self, times: int = 1) -> None:
        """Run the next ``times`` pieces of work, delivering each result."""
        for _ in range(times):
            self.step()
            deliver()

    def step(self) -> None:
        """Run the next piece of work without delivering its result."""
        self.waiting.popleft()()
        self.done += 1

    def drain(self) -> None:
        """Run everything, also what results bring in."""
        while self.waiting:
            self.turn()

    def close(self) -> None:
        """Run what is queued."""
        while self.waiting:
            self.step()


def deliver() -> None:
    """Deliver queued signals and deferred calls that are due; no timer is waited for."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.MetaCall.value)
