"""Holding the suspend off, by private message buses on which the test plays the desktop."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBus, HeaderFields, MessageType, new_error, new_method_return
from jeepney.io.blocking import open_dbus_connection

from engine.power.awake import LOGIND, PORTAL, POWER, Inhibitor

Answer = Callable[[str, tuple[Any, ...]], tuple[str, tuple[Any, ...]] | None]


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("no dbus-daemon")
    config = tmp_path / "bus.conf"
    config.write_text(
        f"<busconfig><type>custom</type><listen>unix:path={tmp_path / 'bus'}</listen>"
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


class Service:
    """One name on the bus that answers calls; `calls` are method and arguments."""

    def __init__(self, address: str, name: str, answer: Answer) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.answered = threading.Semaphore(0)
        self._answer = answer
        self._connection = open_dbus_connection(address, enable_fds=True)
        self._connection.send_and_get_reply(DBus().RequestName(name))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                message = self._connection.receive()
            except (OSError, ValueError, EOFError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            method = message.header.fields[HeaderFields.member]
            self.calls.append((method, message.body))
            reply = self._answer(method, message.body)
            if reply is None:
                self._connection.send(new_error(message, "org.example.No"))
            else:
                self._connection.send(new_method_return(message, *reply))
            self.answered.release()


def test_the_portal_is_asked_first_and_told_the_end(bus: str) -> None:
    handle = "/org/freedesktop/portal/desktop/request/1/t"
    portal = Service(bus, PORTAL, lambda method, _: ("o", (handle,)) if method == "Inhibit" else ("", ()))
    power = Service(bus, POWER, lambda *_: ("u", (7,)))
    inhibitor = Inhibitor(bus, bus)
    assert inhibitor.hold("because") == PORTAL
    (call,) = portal.calls
    assert call == ("Inhibit", ("", 4, {"reason": ("s", "because")}))
    inhibitor.release()
    inhibitor.release()
    assert [method for method, _ in portal.calls] == ["Inhibit", "Close"]
    assert power.calls == []


def test_a_portal_that_refuses_leaves_it_to_the_power_manager(bus: str) -> None:
    Service(bus, PORTAL, lambda *_: None)
    power = Service(bus, POWER, lambda method, _: ("u", (7,)) if method == "Inhibit" else ("", ()))
    inhibitor = Inhibitor(bus, bus)
    assert inhibitor.hold("because") == POWER
    inhibitor.release()
    assert power.calls == [("Inhibit", ("Vramble", "because")), ("UnInhibit", (7,))]


def test_logind_is_asked_without_a_desktop_and_its_lock_is_closed(bus: str) -> None:
    read_end, write_end = os.pipe()
    logind = Service(bus, LOGIND, lambda *_: ("h", (write_end,)))
    inhibitor = Inhibitor("unix:path=/nonexistent", bus)
    assert inhibitor.hold("because") == LOGIND
    assert logind.calls == [("Inhibit", ("idle", "Vramble", "because", "block"))]
    os.close(write_end)
    inhibitor.release()
    with os.fdopen(read_end, "rb") as pipe:
        assert pipe.read() == b"", "the last one who held the lock is gone"


@pytest.mark.parametrize("address", ["unix:path=/nonexistent", "nonsense:", ""])
def test_without_a_bus_nothing_happens(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent")
    inhibitor = Inhibitor(address, address)
    assert inhibitor.hold("because") == ""
    inhibitor.release()
