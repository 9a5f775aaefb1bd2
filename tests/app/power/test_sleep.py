"""Waking up, by clocks that are turned by hand and by a private message bus."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner, ThreadExecutor
from app.power.sleep import LOGIN_MANAGER, LOGIN_PATH, PREPARE, SleepWatch, open_bus
from engine.power.sleep import SleepMeter


class Machine:
    """Clocks, a watch, and what it told."""

    def __init__(self, qtbot: QtBot) -> None:
        self.boot = self.mono = 1000.0
        self.watch = SleepWatch(SleepMeter(lambda: self.boot, lambda: self.mono))
        self.told: list[float] = []
        self.watch.resumed.connect(self.told.append)


@pytest.fixture
def machine(qtbot: QtBot) -> Machine:
    return Machine(qtbot)


def test_a_jump_is_told_once(machine: Machine) -> None:
    machine.watch.set_watched(True)
    machine.boot += 600
    machine.watch.look()
    machine.watch.look()
    assert machine.told == [600.0]


def test_sleep_before_somebody_watched_is_not_told(machine: Machine) -> None:
    machine.boot += 600
    machine.watch.set_watched(True)
    machine.watch.look()
    assert machine.told == []


def test_the_timer_looks(machine: Machine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.power.sleep.LOOK_MS", 10)
    quick = SleepWatch(SleepMeter(lambda: machine.boot, lambda: machine.mono))
    quick.set_watched(True)
    with qtbot.waitSignal(quick.resumed):
        machine.boot += 60
    quick.set_watched(False)


def test_logind_and_the_clocks_tell_one_sleep_once(machine: Machine) -> None:
    machine.watch.prepare_for_sleep(True)
    machine.boot += 60
    machine.watch.prepare_for_sleep(False)
    machine.watch.look()
    assert machine.told == [60.0]
    machine.watch.prepare_for_sleep(True)
    machine.boot += 30
    machine.watch.look()
    machine.watch.prepare_for_sleep(False)
    assert machine.told == [60.0, 30.0]


def test_logind_alone_is_enough(machine: Machine) -> None:
    machine.watch.prepare_for_sleep(True)
    machine.watch.prepare_for_sleep(False)
    machine.watch.prepare_for_sleep(False)
    assert machine.told == [0.0]


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    """The address of a message bus of its own."""
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


def test_the_signal_of_a_bus(machine: Machine, bus: str, qtbot: QtBot) -> None:
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    runner = SerialRunner(ThreadExecutor("bus"))
    machine.watch.listen(runner, bus)
    logind = QDBusConnection.connectToBus(bus, "logind")
    assert logind.isConnected()

    def woke() -> bool:
        for asleep in (True, False):
            message = QDBusMessage.createSignal(LOGIN_PATH, LOGIN_MANAGER, PREPARE)
            message.setArguments([asleep])
            logind.send(message)
        return bool(machine.told)

    qtbot.waitUntil(woke, timeout=60_000)
    assert machine.told[0] == 0.0
    assert machine.watch.listening
    QDBusConnection.disconnectFromBus("logind")
    QDBusConnection.disconnectFromBus(bus)


def test_the_bus_is_asked_for_when_somebody_watches(qtbot: QtBot, bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SerialRunner] = []

    def runner() -> SerialRunner:
        made.append(SerialRunner(ThreadExecutor("bus")))
        return made[-1]

    monkeypatch.setattr("app.power.sleep.open_bus", lambda _address: open_bus(bus))
    watch = SleepWatch(SleepMeter(), None, runner)
    assert (made, watch.listening) == ([], None)
    watch.set_watched(True)
    qtbot.waitUntil(lambda: watch.listening is not None)
    watch.set_watched(False)
    watch.set_watched(True)
    assert (len(made), watch.listening) == (1, True)
    watch.set_watched(False)


def test_without_a_bus_nothing_happens(machine: Machine, tmp_path: Path, qtbot: QtBot) -> None:
    runner = SerialRunner(ThreadExecutor("bus"))
    machine.watch.listen(runner, f"unix:path={tmp_path / 'nothing'}")
    qtbot.waitUntil(lambda: machine.watch.listening is not None)
    assert machine.watch.listening is False
    assert open_bus(f"unix:path={tmp_path / 'nothing'}") == ""
    assert machine.told == []
