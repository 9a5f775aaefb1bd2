"""Notifications, and progress in the task bar, without waiting for the desktop."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from PySide6.QtCore import SLOT, QObject, QTimer, Signal, Slot

from app.jobs import Err, Executor, Ok, Result, SerialRunner
from engine.desktop.bus import DEFAULT_ACTION, NOTIFICATIONS, NOTIFICATIONS_PATH, BusError, Note, SessionBus

log = logging.getLogger(__name__)

__all__ = ["DEFAULT_ACTION", "Desktop", "Note"]

PROGRESS_MS = 500
"""Shortest time between two drawings of the progress."""


class Bus(Protocol):
    """`SessionBus`, or a stand-in."""

    def notify(self, note: Note, replaces: int = 0) -> int: ...
    def withdraw(self, number: int) -> None: ...
    def show_progress(self, fraction: float | None, count: int = 0) -> None: ...
    def close(self) -> None: ...


class Desktop(QObject):
    """Where there is no desktop that shows such things, nothing happens and nobody is told.

    Attributes:
        pressed: A notification was clicked: its key, and the name of the action (`DEFAULT_ACTION`: the notification).
    """

    pressed = Signal(str, str)

    def __init__(self, executor: Executor, parent: QObject | None = None, bus: Bus | None = None) -> None:
        super().__init__(parent)
        self._bus: Bus = bus or SessionBus()
        self._runner = SerialRunner(executor, self)
        self._numbers: dict[str, int] = {}
        self._closed = self._listening = self._used = False
        self._shown: tuple[float | None, int] = (None, 0)
        self._wanted: tuple[float | None, int] = self._shown
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PROGRESS_MS)
        self._timer.timeout.connect(self._draw)

    def notify(self, note: Note) -> None:
        """Show ``note``, in place of an earlier one with its key."""
        if self._closed:
            return
        bus, self._used = self._bus, True
        self._listen()
        self._runner.run(
            lambda: bus.notify(note, self._numbers.get(note.key, 0)), lambda result: self._keep(note.key, result)
        )

    def withdraw(self, key: str) -> None:
        """Take the notification with ``key`` away, if it is shown."""
        number = self._numbers.pop(key, 0)
        if number and not self._closed:
            bus = self._bus
            self._runner.run(lambda: bus.withdraw(number), _forgive)

    def show_progress(self, fraction: float | None, count: int = 0) -> None:
        """Draw a progress (0..1) and a number at the icon in the task bar; None and 0 take them away.

        At most twice a second, and only what changed by a hundredth.
        """
        rounded = None if fraction is None else round(fraction, 2)
        self._wanted = (rounded, count)
        if self._wanted != self._shown and not self._timer.isActive() and not self._closed:
            self._draw()

    def shutdown(self) -> None:
        """Take the progress away and end. Only for quitting."""
        self._closed = True
        self._timer.stop()
        if self._used:
            self._runner.run(self._bus.close, _forgive)
        self._runner.close()

    def _draw(self) -> None:
        if self._wanted == self._shown or self._closed:
            return
        fraction, count = self._shown = self._wanted
        self._timer.start()
        bus, self._used = self._bus, True
        self._runner.run(lambda: bus.show_progress(fraction, count), _forgive)

    def _keep(self, key: str, result: Result[int]) -> None:
        _forgive(result)
        if isinstance(result, Ok):
            self._numbers[key] = result.value

    def _listen(self) -> None:
        """Hear clicks, once somebody was told something."""
        if not self._listening and isinstance(self._bus, SessionBus):
            self._listening = True
            self._runner.run(open_session_bus, self._follow)

    def _follow(self, result: Result[str]) -> None:
        if not isinstance(result, Ok) or not result.value:
            return
        from PySide6.QtDBus import QDBusConnection

        slot: Any = SLOT("action_invoked(uint,QString)")
        QDBusConnection(result.value).connect("", NOTIFICATIONS_PATH, NOTIFICATIONS, "ActionInvoked", self, slot)

    @Slot("uint", str)
    def action_invoked(self, number: int, action: str) -> None:
        """The notification server: somebody clicked one of all programs' notifications."""
        for key, own in self._numbers.items():
            if own == number:
                self.pressed.emit(key, action)
                return


def open_session_bus() -> str:
    """Connect Qt to the session's bus; the connection's name, "" without one. Blocks: call it on a runner."""
    try:
        from PySide6.QtDBus import QDBusConnection
    except ImportError as error:
        log.info("no D-Bus: %s", error)
        return ""
    bus = QDBusConnection.sessionBus()
    return bus.name() if bus.isConnected() else ""


def _forgive(result: Result[Any]) -> None:
    """A desktop that shows no such things is no failure."""
    if isinstance(result, Err):
        if not isinstance(result.error, BusError):
            raise result.error
        log.info("the desktop was not told: %s", result.error)
