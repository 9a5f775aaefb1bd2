"""Steam's on-screen keyboard, the only one that Game Mode has."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from urllib.parse import urlencode

from PySide6.QtCore import QObject, QProcess, QTimer

from app.notices import Notice, Notices, Severity
from app.processes import prepared

NOTICE = "on-screen-keyboard"
SHOWN_MS = 8000
ANSWER_MS = 10_000
"""So long Steam is waited for; then it may be asked again."""
OF_STEAM = ("LD_PRELOAD", "LD_LIBRARY_PATH")
"""What Steam gives to programs for its overlay, and its own client cannot start with."""


class KeyboardMode(IntEnum):
    """What is typed, as Steam numbers it (``EFloatingGamepadTextInputMode``)."""

    ONE_LINE = 0
    LINES = 1
    EMAIL = 2
    NUMBER = 3


def address_of(field: tuple[int, int, int, int], mode: KeyboardMode) -> str:
    """The address that opens it beside the field with this place: left, top, width, height on the screen, pixels."""
    left, top, width, height = field
    place = {"XPosition": left, "YPosition": top, "Width": width, "Height": height, "Mode": int(mode)}
    return f"steam://open/keyboard?{urlencode(place)}"


def command_for(address: str, environ: Mapping[str, str]) -> list[str]:
    """What opens ``address``: Steam itself; in a Flatpak the portal, because Steam is not seen from there."""
    return ["xdg-open", address] if environ.get("FLATPAK_ID") else ["steam", "-ifrunning", address]


class SteamKeyboard(QObject):
    """Opens it; Steam closes it by itself."""

    def __init__(self, environ: Mapping[str, str], notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._environ, self._notices = environ, notices
        self._process: QProcess | None = None
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.timeout.connect(self._give_up)

    @property
    def busy(self) -> bool:
        """Steam has not answered yet."""
        return self._process is not None

    def open(self, field: tuple[int, int, int, int], mode: KeyboardMode) -> None:
        """Ask Steam for the keyboard, not over the field at this place. Does not wait; nothing while it is busy."""
        if self._process is not None:
            return
        environ = {name: value for name, value in self._environ.items() if name not in OF_STEAM}
        process = self._process = prepared(command_for(address_of(field, mode), environ), environ, self)
        process.setStandardOutputFile(QProcess.nullDevice())
        process.setStandardErrorFile(QProcess.nullDevice())
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        process.start()
        if self.busy:
            self._limit.start(ANSWER_MS)

    def _give_up(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._forget()
        if code != 0 or status is QProcess.ExitStatus.CrashExit:
            self._tell()

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._forget()
            self._tell()

    def _forget(self) -> None:
        self._limit.stop()
        process, self._process = self._process, None
        if process is not None:
            process.deleteLater()

    def _tell(self) -> None:
        text = "Steam's keyboard did not open. The Steam button with X opens it."
        self._notices.post(Notice(NOTICE, Severity.INFO, text, timeout_ms=SHOWN_MS))
