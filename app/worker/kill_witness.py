"""Asks the kernel about memory when a worker was killed from outside."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.jobs import Ok, Result, SerialRunner
from engine.client.death import killed_from_outside
from engine.client.memory_trouble import MemoryState, MemoryTrouble, read_memory_state, trouble_between

LONGEST_MS = 1000
"""A runner that is stuck in a drive must not hold the end of a request up."""


class KillWitness(QObject):
    """Compares the memory counters at the start of a process with those at its end.

    Args:
        runner: Reads them off the GUI thread; None: nothing is known.
        read: The counters now.
    """

    def __init__(
        self,
        runner: SerialRunner | None,
        read: Callable[[], MemoryState] = read_memory_state,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._read = runner, read
        self._before: MemoryState | None = None
        self._waiting: Callable[[MemoryTrouble | None], None] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(LONGEST_MS)
        self._patience.timeout.connect(self.hurry)

    def begin(self) -> None:
        """A process is being started."""
        self._before = None
        if self._runner is not None:
            self._runner.run(self._read, self._keep)

    def knows_of(self, exit_code: int | None, number: int | None) -> bool:
        """Such an end is worth asking about."""
        return self._runner is not None and killed_from_outside(exit_code, number)

    def ask(self, done: Callable[[MemoryTrouble | None], None]) -> None:
        """Call ``done`` with what happened to memory; with None when that takes longer than `LONGEST_MS`."""
        if self._runner is None:
            done(None)
            return
        self._waiting = done
        self._patience.start()
        self._runner.run(self._read, self._answer)

    def hurry(self) -> None:
        """Wait no longer: whoever asked gets None."""
        self._patience.stop()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting(None)

    def _keep(self, result: Result[MemoryState]) -> None:
        self._before = result.value if isinstance(result, Ok) else None

    def _answer(self, result: Result[MemoryState]) -> None:
        self._patience.stop()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting(trouble_between(self._before, result.value) if isinstance(result, Ok) else None)
