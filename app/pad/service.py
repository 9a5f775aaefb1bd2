"""Presses of gamepads as signals, from a child that reads them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.processes import prepared
from engine.own_process import module_command, with_source

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
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self.start)

    def start(self) -> None:
        """Read pads from now on, also those that come later."""
        if self._process is not None or self._ended:
            return
        self._starts += 1
        self._buffer = b""
        process = self._process = prepared(module_command(MODULE), with_source(self._environ), self)
        process.setStandardErrorFile(QProcess.nullDevice())
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._failed)
        process.start()

    def shutdown(self) -> None:
        """End the child: its input ends. After the event loop, bounded."""
        self._ended = True
        if self._process is not None:
            self._process.closeWriteChannel()
            self._process.waitForFinished(END_MS)

    def _read(self) -> None:
        if self._process is None:
            return
        *lines, self._buffer = (self._buffer + bytes(self._process.readAllStandardOutput().data())).split(b"\n")
        for line in lines:
            word, _, value = line.decode("ascii", "replace").partition(" ")
            if word == "press" and not self._ended:
                self.pressed.emit(value)
            elif word == "pads" and value.isdecimal():
                self._set_pads(int(value))

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._finish()

    def _finish(self, *_how: object) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.deleteLater()
        self._set_pads(0)
        if not self._ended and self._starts < MOST_STARTS:
            self._again.start(AGAIN_MS)

    def _set_pads(self, number: int) -> None:
        if number != self.pads:
            self.pads = number
            self.pads_changed.emit()
