"""What the desktop is told, on a private message bus with a notification server of the test."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from app.desktop.service import Desktop, Note
from engine.desktop.bus import LAUNCHER, NOTIFICATIONS, NOTIFICATIONS_PATH, BusError, SessionBus, escaped


class Crank:
    """An executor that is turned by hand."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def submit(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def turn(self) -> None:
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            work()

    def close(self) -> None:
        self.turn()


class FakeBus:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, int]] = []
        self.withdrawn: list[int] = []
        self.drawn: list[tuple[float | None, int]] = []
        self.closed = self.broken = False

    def notify(self, note: Note, replaces: int = 0) -> int:
        if self.broken:
            raise BusError("nobody is there")
        self.notes.append((note.title, replaces))
        return replaces or 40 + len(self.notes)

    def withdraw(self, number: int) -> None:
        self.withdrawn.append(number)

    def show_progress(self, fraction: float | None, count: int = 0) -> None:
        if self.broken:
            raise BusError("nobody is there")
        self.drawn.append((fraction, count))

    def close(self) -> None:
        self.closed = True


class Told:
    def __init__(self) -> None:
        self.crank, self.bus = Crank(), FakeBus()
        self.desktop = Desktop(self.crank, None, self.bus)


@pytest.fixture
def told(qapp: object) -> Told:
    return Told()


def finish(told: Told, qtbot: QtBot) -> None:
    """Run what waits and let its results arrive."""
    seen: list[bool] = []
    told.desktop._runner.run(lambda: True, lambda _result: seen.append(True))
    told.crank.turn()
    qtbot.waitUntil(lambda: bool(seen))


def test_a_note_takes_the_place_of_one_with_its_key(told: Told, qtbot: QtBot) -> None:
    told.desktop.notify(Note(key="a", title="One"))
    finish(told, qtbot)
    told.desktop.notify(Note(key="b", title="Other"))
    told.desktop.notify(Note(key="a", title="Two"))
    finish(told, qtbot)
    assert told.bus.notes == [("One", 0), ("Other", 0), ("Two", 41)]
    told.desktop.withdraw("a")
    told.desktop.withdraw("unknown")
    finish(told, qtbot)
    assert told.bus.withdrawn == [41]


def test_a_click_names_the_note(told: Told, qtbot: QtBot) -> None:
    pressed: list[tuple[str, str]] = []
    told.desktop.pressed.connect(lambda key, action: pressed.append((key, action)))
    told.desktop.notify(Note(key="a", title="One"))
    finish(told, qtbot)
    told.desktop.action_invoked(7, "default")
    told.desktop.action_invoked(41, "load")
    assert pressed == [("a", "load")]


def test_progress_is_drawn_at_most_so_often(told: Told, qtbot: QtBot) -> None:
    told.desktop._timer.setInterval(3_600_000)
    told.desktop.show_progress(0.101, 2)
    told.desktop.show_progress(0.102, 2)
    told.desktop.show_progress(0.5, 2)
    told.desktop.show_progress(0.7, 2)
    finish(told, qtbot)
    assert told.bus.drawn == [(0.1, 2)]
    told.desktop._timer.setInterval(0)
    qtbot.waitUntil(lambda: not told.desktop._timer.isActive(), timeout=60_000)
    finish(told, qtbot)
    assert told.bus.drawn == [(0.1, 2), (0.7, 2)]


def test_a_desktop_without_such_things_is_no_failure(told: Told, qtbot: QtBot) -> None:
    told.bus.broken = True
    told.desktop.notify(Note(key="a", title="One"))
    told.desktop.show_progress(0.5)
    finish(told, qtbot)
    assert (told.bus.notes, told.bus.drawn) == ([], [])
    told.desktop.shutdown()
    assert told.bus.closed
    told.desktop.notify(Note(key="a", title="One"))
    told.desktop.show_progress(0.9)
    assert told.crank.waiting == []


def test_markup_is_text() -> None:
    assert escaped("a <b> & c") == "a &lt;b&gt; &amp; c"


# ---- a real bus


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a message bus of its own."""
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("no dbus-daemon")
    config = tmp_path / "bus.conf"
    config.write_text(
        f"<busconfig><type>session</type><listen>unix:path={tmp_path / 'bus'}</listen>"
        "<policy context='default'><allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>"
        "<allow own='*'/></policy></busconfig>"
    )
    command = [program, f"--config-file={config}", "--nofork", "--print-address=1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()


class Server:
    """A notification server that answers in a thread of the test."""

    def __init__(self, address: str, words: list[str]) -> None:
        import threading

        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self._words = words
        self._connection = open_dbus_connection(address)
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        name = new_method_call(bus, "RequestName", "su", (NOTIFICATIONS, 4))
        self._connection.send_and_get_reply(name, timeout=20)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        from jeepney import HeaderFields, MessageType, new_method_return

        while True:
            try:
                message = self._connection.receive()
            except (OSError, ValueError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            member = message.header.fields[HeaderFields.member]
            self.asked.append((member, message.body))
            answer: dict[str, tuple[str | None, tuple[Any, ...]]] = {
                "GetCapabilities": ("as", (self._words,)),
                "Notify": ("u", (77,)),
            }
            signature, body = answer.get(member, (None, ()))
            self._connection.send(new_method_return(message, signature, body))


def test_a_server_gets_what_the_specification_wants(address: str) -> None:
    server = Server(address, ["actions", "body", "body-markup"])
    bus = SessionBus(address)
    note = Note(key="k", title="A <b> title", text="<i>done</i>", actions=(("default", "Show"), ("load", "Load")))
    assert bus.notify(note, 5) == 77
    bus.withdraw(77)
    bus.close()
    name, body = server.asked[1]
    assert (name, body[0], body[1], body[3]) == ("Notify", "Vramble", 5, "A <b> title")
    assert body[4] == "&lt;i&gt;done&lt;/i&gt;"
    assert body[5] == ["default", "Show", "load", "Load"]
    assert body[6]["desktop-entry"] == ("s", "vramble")
    assert server.asked[2] == ("CloseNotification", (77,))


def test_a_server_without_actions_gets_none(address: str) -> None:
    server = Server(address, ["body"])
    bus = SessionBus(address)
    bus.notify(Note(key="k", title="T", text="a & b", actions=(("default", "Show"),)))
    bus.close()
    assert server.asked[1][1][4:6] == ("a & b", [])


def test_nobody_answers(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BusError):
        SessionBus(address).notify(Note(key="k", title="T"))
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with pytest.raises(BusError):
        SessionBus().show_progress(0.5)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    with pytest.raises(BusError):
        SessionBus().show_progress(0.5)


class Dock(QObject):
    """A task bar."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    @Slot("QDBusMessage")
    def update(self, message: Any) -> None:
        self.told.append(str(message.arguments()[0]))


def test_a_task_bar_hears_the_progress(address: str, qtbot: QtBot) -> None:
    from PySide6.QtCore import SLOT
    from PySide6.QtDBus import QDBusConnection

    listener = QDBusConnection.connectToBus(address, "dock")
    dock = Dock()
    slot: Any = SLOT("update(QDBusMessage)")
    assert listener.connect("", "", LAUNCHER, "Update", dock, slot)
    bus = SessionBus(address)

    def heard() -> bool:
        bus.show_progress(0.25, 1)
        return bool(dock.told)

    qtbot.waitUntil(heard, timeout=60_000)
    assert dock.told[0] == "application://vramble.desktop"
    bus.close()
    QDBusConnection.disconnectFromBus("dock")


def test_qt_hears_a_click(address: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal of a notification server reaches the slot with its number."""
    from jeepney import DBusAddress, new_signal
    from jeepney.io.blocking import open_dbus_connection
    from PySide6.QtDBus import QDBusConnection

    from app.jobs import Ok

    listener = QDBusConnection.connectToBus(address, "click")
    assert listener.isConnected()
    desktop = Desktop(Crank(), None, FakeBus())
    desktop._numbers["model"] = 12
    desktop._follow(Ok("click"))
    pressed: list[tuple[str, str]] = []
    desktop.pressed.connect(lambda key, action: pressed.append((key, action)))
    sender = open_dbus_connection(address)
    place = DBusAddress(NOTIFICATIONS_PATH, interface=NOTIFICATIONS)

    def heard() -> bool:
        sender.send(new_signal(place, "ActionInvoked", "us", (12, "default")))
        return bool(pressed)

    qtbot.waitUntil(heard, timeout=60_000)
    assert pressed[0] == ("model", "default")
    sender.close()
    QDBusConnection.disconnectFromBus("click")
