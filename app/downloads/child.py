"""A download child under QProcess: request in, events out, one terminal event for sure."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QProcess, Signal

from app.processes import prepared
from engine.downloads import launch
from engine.downloads.client import died
from engine.downloads.messages import TERMINAL, Command, Failed, Request, decode_event, encode

LOG_TAIL = 4096


class Child(QObject):
    """One process for one request.

    Attributes:
        reported: Any event but the terminal one.
        ended: The terminal event, once, unless `kill` came before.
        gone: This child's process has ended, also after `kill`.
    """

    reported = Signal(object)
    ended = Signal(object)
    gone = Signal(object)

    def __init__(self, parent: QObject | None = None, environ: Mapping[str, str] | None = None) -> None:
        """``environ``: what the child's environment is made of; None: this process's own."""
        super().__init__(parent)
        self._buffer = b""
        self._log = b""
        self._silent = False
        self._process = prepared(launch.command(), launch.environment(environ), self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._fail)

    def start(self, request: Request) -> None:
        """Start the process and hand it ``request``."""
        self._process.start()
        self._process.write(encode(request))

    def tell(self, command: Command) -> None:
        """Hand ``command`` to the running child."""
        if self._process.state() == QProcess.ProcessState.Running:
            self._process.write(encode(command))

    def kill(self) -> None:
        """End it now. What is on the disk is right at each moment, so no farewell is needed."""
        self._silent = True
        if self._process.state() == QProcess.ProcessState.NotRunning:
            self.gone.emit(self)
        else:
            self._process.kill()

    def shutdown(self) -> None:
        """`kill`, and wait until the system has let go of the process. Only for quitting."""
        self._silent = True
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.kill()
            self._process.waitForFinished(1000)

    def _read(self) -> None:
        data = self._buffer + self._process.readAllStandardOutput().data()
        *lines, self._buffer = data.split(b"\n")
        for line in lines:
            event = decode_event(line)
            if event is None or self._silent:
                continue
            if isinstance(event, TERMINAL):
                self._end(event)
            else:
                self.reported.emit(event)

    def _read_log(self) -> None:
        self._log = (self._log + self._process.readAllStandardError().data())[-LOG_TAIL:]

    def _end(self, event: object) -> None:
        if not self._silent:
            self._silent = True
            self.ended.emit(event)

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_log()
        crashed = status == QProcess.ExitStatus.CrashExit
        self._end(died(-code if crashed else code, self._log))
        self.gone.emit(self)

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            text = "The download process could not be started."
            self._end(Failed(code="download-start", message=text, detail=self._process.errorString()))
            self.gone.emit(self)
