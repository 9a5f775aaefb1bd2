"""The worker process on Qt's event loop."""

from __future__ import annotations

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.processes import prepared
from engine.client.command import WorkerCommand

STEP_MS = 1000
"""Time for each step of the end: end of input, SIGTERM, SIGKILL."""

REAP_MS = 900

ASK, TERMINATE, KILL = range(3)

STUCK = KILL + 5
"""A process that is still there so many steps after the first one: a driver or a drive does not let go of it."""


class WorkerProcess(QObject):
    """One process: bytes in, bytes out, and an end that never blocks the window."""

    frames = Signal(bytes)
    log = Signal(bytes)
    channel_closed = Signal()
    ended = Signal(object, object, str)
    """Exit code or None, signal or None, and the system's words when it could not be started."""
    stuck = Signal()
    """SIGKILL did not end it within some seconds. `ended` may follow much later."""

    def __init__(self, command: WorkerCommand, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = prepared(command.arguments, command.environment, self)
        self._process.readyReadStandardOutput.connect(self._read_frames)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.readChannelFinished.connect(self.channel_closed)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._error)
        self._step = ASK
        self._timer = QTimer(self)
        self._timer.setInterval(STEP_MS)
        self._timer.timeout.connect(self._escalate)

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.processId() or None

    def start(self) -> None:
        """Start it. `ended` follows when that fails."""
        self._process.start()

    def write(self, data: bytes) -> None:
        """Queue ``data`` for its standard input, unless it has ended."""
        if data and self._process.state() is not QProcess.ProcessState.NotRunning:
            self._process.write(data)

    def stop(self) -> None:
        """End it: close its input, after 1 s SIGTERM, after another SIGKILL. Returns at once; `ended` follows."""
        if not self._timer.isActive():
            self._process.closeWriteChannel()
            self._timer.start()

    def kill(self) -> None:
        """SIGKILL. Returns at once; `ended` follows."""
        self._process.kill()
        self._step = max(self._step, KILL)
        if not self._timer.isActive():
            self._timer.start()

    def shutdown(self) -> None:
        """End it in the same steps before this returns, in less than 3 s. Only for the end of the program."""
        self._timer.stop()
        self._process.closeWriteChannel()
        if self._step == ASK and self._gone(STEP_MS):
            return
        self._process.terminate()
        if not self._gone(STEP_MS):
            self._process.kill()
            self._gone(REAP_MS)

    def _gone(self, milliseconds: int) -> bool:
        return self._process.state() is QProcess.ProcessState.NotRunning or self._process.waitForFinished(milliseconds)

    def _escalate(self) -> None:
        self._step += 1
        if self._step < STUCK:
            self._signal()
        else:
            self._timer.stop()
            self.stuck.emit()

    def _signal(self) -> None:
        if self._step == TERMINATE:
            self._process.terminate()
        else:
            self._process.kill()

    def _read_frames(self) -> None:
        if data := self._process.readAllStandardOutput().data():
            self.frames.emit(bytes(data))

    def _read_log(self) -> None:
        if data := self._process.readAllStandardError().data():
            self.log.emit(bytes(data))

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._timer.stop()
        self._read_frames()
        self._read_log()
        crashed = status is QProcess.ExitStatus.CrashExit
        self.ended.emit(None if crashed else code, code if crashed else None, "")

    def _error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._timer.stop()
            self.ended.emit(None, None, self._process.errorString())
