"""Presses of gamepads as signals, from a child that reads them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.processes import prepared
from engine.own_process import module_command, with_source

log = logging.getLogger(__name__)

MODULE = "engine.pad"
AGAIN_MS, END_MS = 5000, 1000
MOST_STARTS = 5
"""A child that ends again and again is not started any more: keys and touch work without it."""


class PadService(QObject):
    """Nothing is read before `start`.

    Attributes:
        pressed: Name of a button: ``a``, ``b``, ``x``, ``y``, ``l1``, ``r1``, ``menu``, ``up``, ``down``, ``left`` or
            ``right``; directions repeat while they are held.
        pads_changed: `pads` is another number.
    """

    pressed = Signal(str)
    pads_changed = Signal()

    def __init__(self, environ: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pads = 0
        self._environ = environ
        self._process: QProcess | None = None
        self._buffer = b""
        self._starts = 0
        self._ended = False

    def start(self) -> None:
        """Read pads from now on, also those that come later."""
        if self._process is not None or self._ended:
            return
        self._starts += 1
        self._buffer = b""
        process = self._process = prepared(module_command(MODULE), with_source(self._environ), self)
        process.readyReadStandardOutput.connect(lambda: self._read(process))
        process.readyReadStandardError.connect(lambda: self._log(process))
        process.finished.connect(lambda _code, _status: self._finish(process))
        process.errorOccurred.connect(lambda error: self._failed(process, error))
        process.start()

    def shutdown(self) -> None:
        """End the child: its input ends. After the event loop, bounded."""
        self._ended = True
        if self._process is not None:
            self._process.closeWriteChannel()
            self._process.waitForFinished(END_MS)

    def _read(self, process: QProcess) -> None:
        *lines, self._buffer = (self._buffer + bytes(process.readAllStandardOutput().data())).split(b"\n")
        for line in lines:
            word, _, value = line.decode("ascii", "replace").partition(" ")
            if word == "press" and not self._ended:
                self.pressed.emit(value)
            elif word == "pads" and value.isdecimal():
                self._set_pads(int(value))

    def _log(self, process: QProcess) -> None:
        log.info("pads: %s", bytes(process.readAllStandardError().data()).decode("utf-8", "replace").strip())

    def _failed(self, process: QProcess, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._finish(process)

    def _finish(self, process: QProcess) -> None:
        if self._process is process:
            self._process = None
            process.deleteLater()
            self._set_pads(0)
            if not self._ended and self._starts < MOST_STARTS:
                QTimer.singleShot(AGAIN_MS, self, self.start)

    def _set_pads(self, number: int) -> None:
        if number != self.pads:
            self.pads = number
            self.pads_changed.emit()
