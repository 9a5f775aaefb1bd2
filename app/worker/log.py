"""The worker's log: the last lines in memory, all lines in a file, written off the GUI thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.jobs import Err, Result, SerialRunner
from engine.client.logfile import append_rotating
from engine.client.logtail import LogTail

FLUSH_MS = 2000
WAITING_LINES = 5000
"""Lines that wait for the next write at most; a flood loses its oldest ones."""


class WorkerLog(QObject):
    """Keeps the tail for death notices and hands new lines to a runner every two seconds.

    Args:
        file: The log file. It rotates by size.
        runner: Writes it; None: nothing is written.
    """

    def __init__(self, file: Path, runner: SerialRunner | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self._runner = runner
        self._tail = LogTail()
        self._waiting: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)

    def feed(self, data: bytes) -> None:
        """Take bytes of the worker's standard error, cut anywhere."""
        self._waiting += self._tail.feed(data)
        del self._waiting[:-WAITING_LINES]
        if self._waiting and not self._timer.isActive():
            self._timer.start()

    def begin(self) -> None:
        """A new process: its tail begins empty."""
        self._tail = LogTail()

    def text(self) -> str:
        """The last lines of the present process."""
        return self._tail.text()

    def flush(self) -> None:
        """Hand waiting lines over to be written."""
        self._timer.stop()
        lines, self._waiting = self._waiting, []
        runner, file = self._runner, self._file
        if lines and runner is not None:
            text = "".join(f"{line}\n" for line in lines)
            runner.run(lambda: append_rotating(file, text), _ignore_disk)


def _ignore_disk(result: Result[None]) -> None:
    """A log that cannot be written is no reason to disturb anyone."""
    if isinstance(result, Err) and not isinstance(result.error, OSError):
        raise result.error
