"""Lets the CPU compute what a device computed, in a process of its own that ends right afterwards."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from app.worker.connection import WorkerConnection
from engine.client.session import WorkerDeath
from engine.protocol.frames import Failed, FromWorker, Hello, SelfTest, SelfTested
from engine.protocol.probe import Reference

LIMIT_MS = 120_000
"""Then it is given up: a large file on a slow drive, or a computer that is busy otherwise."""

TOO_LONG = "The CPU needed more than two minutes."
_ID = 1


class Comparison(QObject):
    """One reference at a time.

    Args:
        link: For processes of this object only; without a log file.

    Attributes:
        ended: The CPU's `Probe`, or a `Failed` that says why there is none. Not after `cancel`.
    """

    ended = Signal(object)

    def __init__(self, link: WorkerConnection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._reference: Reference | None = None
        self._result: SelfTested | Failed | None = None
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.setInterval(LIMIT_MS)
        self._limit.timeout.connect(self.give_up)
        link.heard.connect(self._take)
        link.ended.connect(self._gone)

    @property
    def running(self) -> bool:
        """There is a process, also one that is being ended."""
        return self._link.running

    def start(self, reference: Reference, environment: Mapping[str, str]) -> None:
        """Begin. Only when nothing is `running`."""
        self._reference, self._result = reference, None
        self._limit.start()
        self._link.start(environment)

    def cancel(self) -> None:
        """End the process; nothing is told."""
        self._reference = None
        self._limit.stop()
        self._link.stop()

    def give_up(self) -> None:
        """The time is over."""
        self._result = self._result or Failed(id=_ID, code="too-long", message=TOO_LONG)
        self._link.stop()

    def shutdown(self) -> None:
        """End the process before this returns, in less than 3 s. Only for the end of the program."""
        self._reference = None
        self._limit.stop()
        self._link.shutdown()

    def _take(self, event: FromWorker) -> None:
        if isinstance(event, Hello) and self._reference is not None:
            self._link.submit(SelfTest(id=_ID, reference=self._reference))
        elif isinstance(event, SelfTested | Failed):
            self._result = self._result or event
            self._link.stop()

    def _gone(self, death: WorkerDeath | None, _verdict: object, _failures: object) -> None:
        self._limit.stop()
        wanted, self._reference = self._reference is not None, None
        result = self._result
        if result is None:
            message = "The engine ended." if death is None else death.sentence
            result = Failed(id=_ID, code="worker-ended", message=message)
        if wanted:
            self.ended.emit(result.probe if isinstance(result, SelfTested) else result)
