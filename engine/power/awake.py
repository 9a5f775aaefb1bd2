"""Asks the desktop not to suspend by itself. Blocks: call it on a runner.

Only the automatic suspend is held off: whoever presses the button or closes the lid means it. Asked are, in this order,
the portal (XDG Desktop Portal, ``Inhibit`` with the flag for suspending, 4), the power manager of the session
(``org.freedesktop.PowerManagement.Inhibit``), and logind (``Inhibit`` of ``idle``), which is there without a desktop.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from typing import Any, Final

from engine.desktop.bus import session_address

log = logging.getLogger(__name__)

APP: Final = "Vramble"
ANSWER_S: Final = 3.0
SUSPEND: Final = 4

PORTAL: Final = "org.freedesktop.portal.Desktop"
POWER: Final = "org.freedesktop.PowerManagement"
LOGIND: Final = "org.freedesktop.login1"

Release = Callable[[], None]


class Inhibitor:
    """One inhibition at a time.

    Args:
        session, system: Addresses of other buses than the session's and the system's, for tests.
    """

    def __init__(self, session: str = "", system: str = "") -> None:
        self._session = session
        self._system = system
        self._release: Release | None = None

    def hold(self, why: str) -> str:
        """Hold the suspend off, and say by which service: its name on the bus, empty where nobody does that."""
        if self._release is not None:
            self.release()
        for name, ask in ((PORTAL, self._portal), (POWER, self._power), (LOGIND, self._logind)):
            try:
                self._release = ask(why)
            except (OSError, ValueError, RuntimeError, StopIteration, LookupError, _bus_error()) as error:
                log.debug("%s keeps nobody awake: %s", name, type(error).__name__)
            else:
                return name
        return ""

    def release(self) -> None:
        """Let the computer suspend again."""
        release, self._release = self._release, None
        if release is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError, _bus_error()):
                release()

    def _portal(self, why: str) -> Release:
        connection = _open(self._session or session_address())
        place = ("/org/freedesktop/portal/desktop", PORTAL, "org.freedesktop.portal.Inhibit")
        with _closing_on_error(connection):
            (handle,) = _call(connection, place, "Inhibit", "sua{sv}", ("", SUSPEND, {"reason": ("s", why)}))

        def release() -> None:
            with contextlib.closing(connection):
                _call(connection, (handle, PORTAL, "org.freedesktop.portal.Request"), "Close", None, ())

        return release

    def _power(self, why: str) -> Release:
        connection = _open(self._session or session_address())
        place = ("/org/freedesktop/PowerManagement/Inhibit", POWER, f"{POWER}.Inhibit")
        with _closing_on_error(connection):
            (cookie,) = _call(connection, place, "Inhibit", "ss", (APP, why))

        def release() -> None:
            with contextlib.closing(connection):
                _call(connection, place, "UnInhibit", "u", (cookie,))

        return release

    def _logind(self, why: str) -> Release:
        """The inhibition lasts as long as the file that logind hands over is open."""
        connection = _open(self._system or os.environ.get("DBUS_SYSTEM_BUS_ADDRESS") or "SYSTEM", enable_fds=True)
        place = ("/org/freedesktop/login1", LOGIND, "org.freedesktop.login1.Manager")
        with contextlib.closing(connection):
            (lock,) = _call(connection, place, "Inhibit", "ssss", ("idle", APP, why, "block"))
        fd: int = lock.to_raw_fd()
        return lambda: os.close(fd)


def _bus_error() -> type[Exception]:
    from jeepney import DBusErrorResponse

    refused: type[Exception] = DBusErrorResponse
    return refused


def _open(address: str, *, enable_fds: bool = False) -> Any:
    from jeepney.io.blocking import open_dbus_connection

    return open_dbus_connection(address, enable_fds=enable_fds)


@contextlib.contextmanager
def _closing_on_error(connection: Any) -> Any:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _call(
    connection: Any, place: tuple[str, str, str], method: str, signature: str | None, body: tuple[object, ...]
) -> tuple[Any, ...]:
    from jeepney import DBusAddress, new_method_call
    from jeepney.wrappers import unwrap_msg

    path, name, interface = place
    message = new_method_call(DBusAddress(path, name, interface), method, signature, body)
    return tuple(unwrap_msg(connection.send_and_get_reply(message, timeout=ANSWER_S)))
