"""The session's message bus: notifications and the progress that task bars draw. Blocks: call it on a runner.

Sources: the Desktop Notifications Specification 1.2 (method ``Notify`` with ``susssasa{sv}i``) and the launcher API of
Unity (signal ``com.canonical.Unity.LauncherEntry.Update``), which Plasma, Dash to Dock and Plank follow too.
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import msgspec

NOTIFICATIONS = "org.freedesktop.Notifications"
NOTIFICATIONS_PATH = "/org/freedesktop/Notifications"
LAUNCHER = "com.canonical.Unity.LauncherEntry"
DESKTOP_FILE = "vramble"
APP_NAME = "Vramble"
ANSWER_S = 3.0
"""Seconds that a notification server has to answer."""

DEFAULT_ACTION = "default"
"""What a click on the notification itself is called."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A notification: plain text. One with the same ``key`` takes the place of an earlier one.

    Attributes:
        actions: Buttons as (name, label); a click on the notification itself has the name ``default``.
    """

    key: str
    title: str
    text: str = ""
    actions: tuple[tuple[str, str], ...] = ()


class BusError(Exception):
    """There is no bus, or nobody on it who answers. Nothing that a user has to know."""


class SessionBus:
    """One connection, opened when it is first needed. Task bars forget progress when it is closed.

    Args:
        address: Of another bus than the session's, for tests.
    """

    def __init__(self, address: str = "") -> None:
        self._address = address
        self._connection: Any = None
        self._capable: frozenset[str] | None = None

    def notify(self, note: Note, replaces: int = 0) -> int:
        """Show ``note`` in the place of the notification number ``replaces`` (0: a new one). Its number.

        Raises:
            BusError: Nobody shows notifications here.
        """
        actions = [word for action in note.actions for word in action] if "actions" in self.capabilities() else []
        hints = {"desktop-entry": ("s", DESKTOP_FILE), "category": ("s", "transfer.complete")}
        text = escaped(note.text) if "body-markup" in self.capabilities() else note.text
        body = (APP_NAME, replaces, DESKTOP_FILE, note.title, text, actions, hints, -1)
        number = self._call("Notify", "susssasa{sv}i", body)[0]
        return int(number)

    def withdraw(self, number: int) -> None:
        """Take a notification away. Raises `BusError`."""
        self._call("CloseNotification", "u", (number,))

    def capabilities(self) -> frozenset[str]:
        """What the notification server can do, such as ``actions``. Raises `BusError`."""
        if self._capable is None:
            self._capable = frozenset(str(word) for word in self._call("GetCapabilities", None, ())[0])
        return self._capable

    def show_progress(self, fraction: float | None, count: int = 0) -> None:
        """Draw ``fraction`` (0..1, None: nothing) and a number at the program's icon in the task bar.

        It is a signal to whoever listens: no answer says whether a task bar does. Raises `BusError` without a bus.
        """
        from jeepney import DBusAddress, new_signal

        shown = {
            "progress": ("d", min(1.0, max(0.0, fraction or 0.0))),
            "progress-visible": ("b", fraction is not None),
            "count": ("x", count),
            "count-visible": ("b", count > 0),
        }
        uri = f"application://{DESKTOP_FILE}.desktop"
        place = DBusAddress(f"/com/canonical/unity/launcherentry/{zlib.crc32(uri.encode())}", interface=LAUNCHER)
        connection = self._open()
        try:
            connection.send(new_signal(place, "Update", "sa{sv}", (uri, shown)))
        except OSError as error:
            self.close()
            raise BusError(str(error)) from error

    def close(self) -> None:
        """End the connection; it is opened again when it is needed."""
        connection, self._connection, self._capable = self._connection, None, None
        if connection is not None:
            connection.close()

    def _open(self) -> Any:
        if self._connection is None:
            from jeepney import DBusErrorResponse
            from jeepney.io.blocking import open_dbus_connection

            try:
                self._connection = open_dbus_connection(self._address or session_address())
            except (OSError, ValueError, RuntimeError, StopIteration, DBusErrorResponse) as error:
                raise BusError(f"no message bus: {error}") from error
        return self._connection

    def _call(self, method: str, signature: str | None, body: tuple[object, ...]) -> tuple[Any, ...]:
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.wrappers import unwrap_msg

        connection = self._open()
        server = DBusAddress(NOTIFICATIONS_PATH, NOTIFICATIONS, NOTIFICATIONS)
        try:
            answer = connection.send_and_get_reply(new_method_call(server, method, signature, body), timeout=ANSWER_S)
            return tuple(unwrap_msg(answer))
        except (OSError, TimeoutError) as error:
            self.close()
            raise BusError(f"{method}: {error}") from error
        except DBusErrorResponse as error:
            raise BusError(f"{method}: {error.name}") from error


def session_address() -> str:
    """Where the session's bus is: as the environment says, else where systemd puts it. Raises ValueError."""
    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if not address and not folder:
        raise ValueError("the environment names none")
    return address or f"unix:path={folder}/bus"


def escaped(text: str) -> str:
    """``text`` for servers that read markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
