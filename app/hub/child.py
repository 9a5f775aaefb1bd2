"""The hub child under QProcess: started when somebody asks, answers as signals, one for each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from app.processes import prepared
from engine.hub.client import died
from engine.hub.launch import command, environment
from engine.hub.messages import Cancel, Failed, Open, Search, decode_event, encode

LOG_TAIL = 4096


class HubChild(QObject):
    """One process for many requests, and another one after it has ended.

    Args:
        folder: Where the child keeps what the Hub said.
        environ: The environment that the next process should have: a mirror or a proxy may be set in it.

    Attributes:
        answered: An `Event` to a request that was not cancelled.
    """

    answered = Signal(object)

    def __init__(self, folder: Path, environ: Callable[[], Mapping[str, str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder, self._environ = folder, environ
        self._process: QProcess | None = None
        self._pending: dict[int, Search | Open] = {}
        self._last = 0
        self._buffer = b""
        self._log = b""
        self._given: Mapping[str, str] = {}
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Of the process, None when there is none."""
        return self._process.processId() or None if self._process is not None else None

    @property
    def busy(self) -> bool:
        """Answers are still to come."""
        return bool(self._pending)

    def next_id(self) -> int:
        """A number for a request."""
        self._last += 1
        return self._last

    def ask(self, request: Search | Open) -> None:
        """Send ``request``. After `shutdown` nothing is asked and nothing answered."""
        if self._closed:
            return
        self._pending[request.id] = request
        self.start()
        self._write(encode(request))

    def cancel(self, number: int) -> None:
        """No answer to the request ``number`` is wanted any more."""
        if self._pending.pop(number, None) is not None:
            self._write(encode(Cancel(id=number)))

    def start(self) -> None:
        """Have a process, so that the first request need not wait for one."""
        if self._process is not None or self._closed:
            return
        self._buffer = self._log = b""
        self._given = environment(self._environ())
        process = self._process = prepared(command(self._folder), self._given, self)
        process.readyReadStandardOutput.connect(lambda: self._read(process))
        process.readyReadStandardError.connect(lambda: self._read_log(process))
        process.finished.connect(lambda code, status: self._finish(process, code, status))
        process.errorOccurred.connect(lambda error: self._fail(process, error))
        process.start()

    def renew(self) -> None:
        """Where the environment should be another one now, another process answers what this one has not yet."""
        if self._process is not None and self._given != environment(self._environ()):
            pending = dict(self._pending)
            self.stop()
            self.start()
            for request in pending.values():
                self.ask(request)

    def stop(self) -> None:
        """End the process. Who still waited gets no answer."""
        process, self._process = self._process, None
        self._pending.clear()
        if process is not None:
            process.finished.connect(process.deleteLater)
            process.kill()

    def shutdown(self) -> None:
        """`stop`, and wait until the system has let go of the process. Only for quitting."""
        self._closed = True
        process = self._process
        self.stop()
        if process is not None and process.state() != QProcess.ProcessState.NotRunning:
            process.waitForFinished(1000)

    def _write(self, line: bytes) -> None:
        if self._process is not None:
            self._process.write(line)

    def _read(self, process: QProcess) -> None:
        if process is not self._process:
            return
        *lines, self._buffer = (self._buffer + process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            event = decode_event(line)
            if event is not None and self._pending.pop(event.id, None) is not None:
                self.answered.emit(event)

    def _read_log(self, process: QProcess) -> None:
        if process is self._process:
            self._log = (self._log + process.readAllStandardError().data())[-LOG_TAIL:]

    def _finish(self, process: QProcess, code: int, status: QProcess.ExitStatus) -> None:
        if process is not self._process:
            return
        self._read(process)
        self._read_log(process)
        crashed = status == QProcess.ExitStatus.CrashExit
        self._gone(process, [died(number, -code if crashed else code, self._log) for number in self._pending])

    def _fail(self, process: QProcess, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and process is self._process:
            text, why = "The process that asks the Hub could not be started.", process.errorString()
            failures = [Failed(id=one, code="hub-start", message=text, detail=why) for one in self._pending]
            self._gone(process, failures)

    def _gone(self, process: QProcess, failures: list[Failed]) -> None:
        self._process = None
        self._pending.clear()
        process.deleteLater()
        for failure in failures:
            self.answered.emit(failure)
