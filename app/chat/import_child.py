"""An import in a process of its own: files of 500 MB are decoded there, and the window goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from app.processes import prepared
from engine.chat_files.importing import Imported, Progress
from engine.chat_files.messages import Done, Event, Going, Import, command, decode_event, died, encode, environment
from engine.errors import VrambleError

LOG_TAIL = 4096


class ImportChild(QObject):
    """One process for one import.

    Attributes:
        moved: `Progress`, a few times a second.
        ended: `Imported`, or the `VrambleError` why nothing was taken. Once, also after `kill`.
    """

    moved = Signal(object)
    ended = Signal(object)

    def __init__(self, database: Path, files: Sequence[Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._request = Import(database=os.fsencode(database), files=tuple(os.fsencode(file) for file in files))
        self._buffer = self._log = b""
        self._result: Imported | VrambleError | None = None
        self._process = prepared(command(), environment(), self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._fail)

    @property
    def pid(self) -> int | None:
        """Of the process, None when there is none."""
        return self._process.processId() or None

    def start(self) -> None:
        """Start the process and hand it the request."""
        self._process.start()
        self._process.write(encode(self._request))

    def kill(self) -> None:
        """End it now. What it has written is never seen."""
        if self._result is None:
            self._result = VrambleError("import-stopped", "The import was stopped. Nothing was imported.")
        self._process.kill()

    def _read(self) -> None:
        *lines, self._buffer = (self._buffer + self._process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            self._take(decode_event(line))

    def _take(self, event: Event | None) -> None:
        if isinstance(event, Going):
            self.moved.emit(Progress(event.done, event.total))
        elif event is not None and self._result is None:
            self._result = event.imported if isinstance(event, Done) else event.error()

    def _read_log(self) -> None:
        self._log = (self._log + self._process.readAllStandardError().data())[-LOG_TAIL:]

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_log()
        crashed = status == QProcess.ExitStatus.CrashExit
        self.ended.emit(self._result or died(-code if crashed else code, self._log).error())

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            sentence = "The process that imports could not be started."
            self.ended.emit(VrambleError("import-start", sentence, detail=self._process.errorString()))
