"""The process that looks at model files, under QProcess: frames in, frames out, one of them in a turn of the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.processes import prepared
from engine.library.child.messages import BrokenFrameError, Event, Frames, Request, decode_event, encode

LOG_TAIL = 4096
CLOSE_MS = 500
"""So long it has, when the program ends, to keep what it has read."""
REAP_MS = 900


class ScanProcess(QObject):
    """One process; it ends when this object closes the pipe, and with this program.

    Attributes:
        told: An `Event`. Each is handed on in a turn of its own, so that thousands of models hold up nothing.
        ended: It is gone; how, in a word or two, and the last lines of its log.
    """

    told = Signal(object)
    ended = Signal(str, str)

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._frames = Frames()
        self._log = b""
        self._end: str | None = None
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._next)
        self._process = prepared(command, environ, self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._error)
        self._process.start()

    @property
    def pid(self) -> int | None:
        """Of the process while it runs."""
        return self._process.processId() or None

    def ask(self, *requests: Request) -> None:
        """Write ``requests``."""
        self._process.write(b"".join(encode(request) for request in requests))

    def close(self) -> None:
        """Let it end; nothing is told any more. Returns at once, and this object goes when the process has gone."""
        self.blockSignals(True)
        self._turn.stop()
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self.deleteLater()
        else:
            self._process.finished.connect(self.deleteLater)
            self._process.closeWriteChannel()

    def shutdown(self) -> None:
        """End it before this returns, in less than 2 s. Only for the end of the program."""
        self.blockSignals(True)
        self._turn.stop()
        self._process.closeWriteChannel()
        if not self._gone(CLOSE_MS):
            self._process.kill()
            self._gone(REAP_MS)

    def _gone(self, milliseconds: int) -> bool:
        return self._process.state() is QProcess.ProcessState.NotRunning or self._process.waitForFinished(milliseconds)

    def _read(self) -> None:
        self._frames.feed(bytes(self._process.readAllStandardOutput().data()))
        self._turn.start()

    def _next(self) -> None:
        try:
            frame = self._frames.take()
            event: Event | None = decode_event(frame) if frame is not None else None
        except BrokenFrameError as error:
            self._break(str(error))
            return
        if event is not None:
            self.told.emit(event)
            return
        self._turn.stop()
        if self._end is not None:
            self.ended.emit(self._end, self._log.decode("utf-8", "replace"))

    def _break(self, why: str) -> None:
        """What it says makes no sense: no more of it is heard."""
        self._turn.stop()
        self._process.readyReadStandardOutput.disconnect(self._read)
        self._frames = Frames()
        self._process.kill()
        self._end = "nonsense"
        self._log += why.encode("utf-8", "replace")

    def _read_log(self) -> None:
        self._log = (self._log + self._process.readAllStandardError().data())[-LOG_TAIL:]

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_log()
        if self._end is None:
            self._frames.feed(bytes(self._process.readAllStandardOutput().data()))
            self._end = f"signal {code}" if status is QProcess.ExitStatus.CrashExit else f"exit code {code}"
        self._turn.start()

    def _error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end = self._process.errorString()
            self._turn.start()
