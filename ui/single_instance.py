"""One window for each data folder: a second start raises the window of the first one.

A lock in the runtime folder says who is first; it names a process, so one that was killed holds nothing. The first one
listens on a socket beside it; who comes later sends what the desktop gave it for raising a window, and ends. Where
neither works, the program starts as if it were alone: the database takes two writers.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QWidget

CONNECT_MS = 300
LOCK_MS = 100
WAIT_MS = 6000
"""So long a start waits for one that is ending; more than that needs."""
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


def meeting_place(data: Path, environ: Mapping[str, str]) -> Path:
    """Where starts with the data folder ``data`` meet: short enough for a socket, private to the user. Of the runtime
    folder only this part is shared between starts in Flatpak.
    """
    folder = environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    if sandbox := environ.get("FLATPAK_ID"):
        folder = f"{folder}/app/{sandbox}"
    name = hashlib.sha256(os.fsencode(data.absolute())).hexdigest()[:16]
    return Path(folder) / f"vramble-{os.getuid()}-{name}"


class SingleInstance(QObject):
    """The claim of this process on a data folder.

    Attributes:
        raise_wanted: Another start wants the window to be seen.
        beside_another: Another process has the data folder and did not answer: nothing of it may be replaced.
    """

    raise_wanted = Signal()

    def __init__(self, place: Path, environ: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._place, self._environ = str(place), environ
        self.beside_another = False
        self._lock = QLockFile(self._place + ".lock")
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)

    def claim(self, wait_ms: int = WAIT_MS) -> bool:
        """Whether this is the first one; else the first one's window was raised. Only before there is a window."""
        timer = QElapsedTimer()
        timer.start()
        while True:
            if self._lock.tryLock(LOCK_MS):
                QLocalServer.removeServer(self._place)
                self._server.listen(self._place)
                return True
            if self._lock.error() is not QLockFile.LockError.LockFailedError:
                return True
            if timer.elapsed() > wait_ms:
                self.beside_another = True
                return True
            if self._call():
                return False

    def stop_listening(self) -> None:
        """This one is ending: a start that comes now waits for that."""
        self._server.close()

    def release(self) -> None:
        """Another start may be the first one."""
        self._server.close()
        self._lock.unlock()

    def _call(self) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._place)
        if not socket.waitForConnected(CONNECT_MS):
            return False
        token = next((f"{name}={self._environ[name]}" for name in TOKENS if self._environ.get(name)), "")
        socket.write(token.encode() + b"\n")
        return bool(socket.waitForBytesWritten(CONNECT_MS)) and bool(socket.waitForReadyRead(CONNECT_MS * 10))

    def _accept(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.disconnected.connect(socket.deleteLater)
        socket.readyRead.connect(lambda: self._read(socket))
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        while socket.canReadLine():
            name, _, token = bytes(socket.readLine().data()).decode("utf-8", "replace").strip().partition("=")
            if name in TOKENS:
                os.environ[name] = token
            socket.write(b"raised\n")
            socket.flush()
            self.raise_wanted.emit()


def bring_up(window: QWidget) -> None:
    """Show ``window`` before all others, as large as it was."""
    if window.isMinimized():
        window.showMaximized() if window.isMaximized() else window.showNormal()
    window.show()
    window.raise_()
    window.activateWindow()
