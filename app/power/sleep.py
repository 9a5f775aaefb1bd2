"""Tells when the computer wakes up: by the clocks, and at once where logind says so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import SLOT, QObject, Qt, QTimer, Signal, Slot

from app.jobs import Ok, Result, SerialRunner
from engine.power.sleep import SleepMeter

log = logging.getLogger(__name__)

LOOK_MS = 3000
LOGIN_PATH = "/org/freedesktop/login1"
LOGIN_MANAGER = "org.freedesktop.login1.Manager"
PREPARE = "PrepareForSleep"


class SleepWatch(QObject):
    """Compares the clocks every three seconds while somebody watches, and listens to logind where there is one.

    Args:
        meter: The clocks.
        bus_runner: Makes the runner on which the connection to the bus is opened, when somebody watches for the first
            time; None: logind is not heard.

    Attributes:
        resumed: The computer woke up; seconds that it slept, 0.0 when they are unknown.
    """

    resumed = Signal(float)

    def __init__(
        self,
        meter: SleepMeter | None = None,
        parent: QObject | None = None,
        bus_runner: Callable[[], SerialRunner] | None = None,
    ) -> None:
        super().__init__(parent)
        self._meter = meter or SleepMeter()
        self._bus_runner = bus_runner
        self._falling_asleep = False
        self._listening: bool | None = None
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    @property
    def listening(self) -> bool | None:
        """logind can be heard; None: that is not known yet."""
        return self._listening

    def set_watched(self, watched: bool) -> None:
        """Begin to compare the clocks, or stop. Sleep before that is not told."""
        if watched and not self._timer.isActive():
            self._meter.look()
            self._timer.start()
            make, self._bus_runner = self._bus_runner, None
            if make is not None:
                self.listen(make())
        elif not watched:
            self._timer.stop()

    def listen(self, runner: SerialRunner, address: str = "") -> None:
        """Listen to logind from now on, if there is a bus. Never waits and never fails.

        Args:
            runner: Opens the connection, which may take long where the bus does not answer. It is closed then.
            address: Of another bus than the system's, for tests.
        """

        def opened(result: Result[str]) -> None:
            runner.close()
            self._listening = isinstance(result, Ok) and bool(result.value) and self._follow_bus(result.value)

        runner.run(lambda: open_bus(address), opened)

    def look(self) -> None:
        """Compare the clocks now."""
        slept = self._meter.look()
        if slept > 0:
            self._tell(slept)

    @Slot(bool)
    def prepare_for_sleep(self, asleep: bool) -> None:
        """logind: the computer is about to sleep, or has just woken up."""
        if asleep:
            self._falling_asleep = True
        elif self._falling_asleep:
            self._tell(self._meter.look())

    def _tell(self, slept: float) -> None:
        self._falling_asleep = False
        log.info("the computer slept for %.0f s", slept)
        self.resumed.emit(slept)

    def _follow_bus(self, name: str) -> bool:
        """An empty service name matches by path and interface alone, so that Qt asks nobody for the owner of a name."""
        from PySide6.QtDBus import QDBusConnection

        bus = QDBusConnection(name)
        slot: Any = SLOT("prepare_for_sleep(bool)")  # the stub says bytes, which are refused
        heard = bus.connect("", LOGIN_PATH, LOGIN_MANAGER, PREPARE, self, slot)
        log.debug("logind: %s", "listening" if heard else bus.lastError().message())
        return heard


def open_bus(address: str = "") -> str:
    """Connect to the system's bus, or to the one at ``address``; the connection's name, "" without a bus.

    Blocks while the bus does not answer: call it on a runner.
    """
    try:
        from PySide6.QtDBus import QDBusConnection
    except ImportError as error:
        log.info("no D-Bus: %s", error)
        return ""
    bus = QDBusConnection.connectToBus(address, address) if address else QDBusConnection.systemBus()
    return bus.name() if bus.isConnected() else ""
