"""Signals of the system, and the measured start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.quit_signals import SIGNALS, QuitSignals
from ui.start_trace import SWITCH, process_age_ms, trace_start
from ui.window_settings import WindowSettings, pack_geometry, unpack_geometry


@pytest.fixture
def signals(qtbot: QtBot) -> Iterator[QuitSignals]:
    signals = QuitSignals()
    yield signals
    signals.restore()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_of_the_system_is_heard(signals: QuitSignals, qtbot: QtBot, number: signal.Signals) -> None:
    with qtbot.waitSignal(signals.received):
        os.kill(os.getpid(), number)


def test_signals_are_given_back(qtbot: QtBot) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    signals = QuitSignals()
    assert [signal.getsignal(number) for number in SIGNALS] != before
    signals.restore()
    assert [signal.getsignal(number) for number in SIGNALS] == before


def window_with_field(qtbot: QtBot) -> tuple[QWidget, QLineEdit]:
    window = QWidget()
    field = QLineEdit()
    QVBoxLayout(window).addWidget(field)
    qtbot.addWidget(window)
    return window, field


def test_the_start_is_told_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SWITCH, "1")
    window, field = window_with_field(qtbot)
    trace_start(window)
    window.show()
    window.activateWindow()
    field.setFocus()
    told: list[str] = []

    def look() -> bool:
        told.append(capsys.readouterr().err)
        return "window usable after" in "".join(told)

    qtbot.waitUntil(look)
    window.repaint()
    qtbot.wait(50)
    told.append(capsys.readouterr().err)
    assert "".join(told).count("window usable after") == 1


def test_nothing_is_told_unasked(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    window, field = window_with_field(qtbot)
    trace_start(window)
    window.show()
    field.setFocus()
    qtbot.wait(50)
    assert "usable" not in capsys.readouterr().err


def test_the_age_of_the_process_grows(qtbot: QtBot) -> None:
    first = process_age_ms()
    assert first > 0
    qtbot.waitUntil(lambda: process_age_ms() > first)


def test_geometry_survives_the_settings_file(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    state = window.saveGeometry()
    assert unpack_geometry(pack_geometry(state)) == state
    assert unpack_geometry("not base64").isEmpty()
    assert WindowSettings().scale == 1.0


def test_an_unknown_option_opens_no_window(tmp_path: Path) -> None:
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "VRAMBLE_HOME": str(tmp_path)}
    command = [sys.executable, "-P", "-m", "app.main", "-style", "fusion", "--fullscrean"]
    environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr == "vramble: unknown option --fullscrean. `vramble --help` lists the commands.\n"
    assert list(tmp_path.iterdir()) == []
