"""The panel of parameters in the window."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.settings import ContextPolicy
from tests.ui.shell.conftest import MakeWindow


def find(window: Any, name: str) -> Any:
    """The widget with this name."""
    return window.find(name)


def test_shown_changed_reset_hidden(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    parameters = window.chat.parameters
    find(window, "parametersButton").click()
    panel = find(window, "parameterPanel")
    prompt = find(window, "parameter-system_prompt")
    qtbot.waitUntil(prompt.hasFocus)
    qtbot.keyClicks(prompt, "Be short.")
    assert parameters.own == {"system_prompt": "Be short."}
    temperature = find(window, "parameter-temperature")
    temperature.setValue(1.25)
    find(window, "parameter-top_k").setValue(7)
    find(window, "parameter-max_tokens").setValue(50)
    overflow = find(window, "parameter-overflow")
    overflow.activated.emit(1)
    assert parameters.present.temperature == 1.25
    assert (parameters.present.max_tokens, parameters.present.overflow) == (50, ContextPolicy.SHIFT)
    find(window, "reset-temperature").click()
    assert temperature.value() == 0.7
    find(window, "resetParameters").click()
    assert (parameters.own, prompt.toPlainText(), find(window, "parameter-max_tokens").text()) == ({}, "", "No limit")
    QTest.keyClick(prompt, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    qtbot.waitUntil(find(window, "composer").hasFocus)


def test_every_sampler_has_a_row(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    find(window, "parametersButton").click()
    find(window, "moreSamplersButton").setChecked(True)
    present = window.chat.parameters.present
    for field in present.__struct_fields__:
        row = window.window.findChild(QWidget, f"parameter-{field}")
        assert row is not None, field
        assert row.accessibleName()
        assert row.accessibleDescription()
    assert window.chat.parameters.own == {}


def test_a_preset_is_chosen_and_recognised(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    find(window, "parametersButton").click()
    parameters, choice = window.chat.parameters, find(window, "presetChoice")
    window.chat.presets.save("Pirate", {"system_prompt": "Arr", "temperature": 1.5})
    choice.activated.emit(1)
    assert parameters.own == {"system_prompt": "Arr", "temperature": 1.5}
    assert choice.currentText() == "Pirate"
    parameters.change(top_k=3)
    assert choice.currentText() == "Own values"
    choice.activated.emit(0)
    assert (parameters.own, choice.currentText()) == ({}, "No preset")
