"""SIGINT, SIGTERM and SIGHUP as a Qt signal, so that they close the window instead of the interpreter."""

from __future__ import annotations

import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Signal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class QuitSignals(QObject):
    """Python notes a signal by a byte on a socket; Qt wakes up from it at once.

    Attributes:
        received: One of the signals came.
    """

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._old_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._old = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)

    def restore(self) -> None:
        """Give the signals back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._old_fd)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()

    def _drain(self) -> None:
        try:
            numbers = self._read.recv(64)
        except BlockingIOError:
            return
        if any(number in SIGNALS for number in numbers):
            self.received.emit()
