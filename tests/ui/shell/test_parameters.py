"""The panel of parameters in the window."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.settings import ContextPolicy
from engine.protocol.types import LogitBias
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
    for fold in ("moreSamplersButton", "constraintsButton"):
        find(window, fold).setChecked(True)
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


def test_a_bad_grammar_is_told_at_its_field(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    find(window, "parametersButton").click()
    find(window, "constraintsButton").setChecked(True)
    grammar, problem = find(window, "parameter-grammar"), find(window, "problem-grammar")
    assert problem.isHidden()
    grammar.setPlainText("root ::= name")
    assert not problem.isHidden()
    assert problem.text() == "The grammar is not valid: line 1 uses the rule name, which is not there."
    assert grammar.accessibleDescription().startswith(problem.text())
    grammar.setPlainText('root ::= "yes"')
    assert problem.isHidden()
    assert window.chat.parameters.present.sampling().grammar == 'root ::= "yes"'
    schema, about = find(window, "parameter-json_schema"), find(window, "problem-json_schema")
    schema.setPlainText("{")
    assert about.text() == problem.text() == "A grammar and a JSON schema cannot be used together."
    find(window, "reset-grammar").click()
    assert (problem.isHidden(), about.text().startswith("The JSON schema")) == (True, True)


def test_biases_count_when_they_are_right(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    find(window, "parametersButton").click()
    find(window, "constraintsButton").setChecked(True)
    parameters = window.chat.parameters
    lines, problem = find(window, "parameter-logit_bias"), find(window, "problem-logit_bias")
    lines.setPlainText("12: -5\n7 2.5")
    assert parameters.present.sampling().logit_bias == (LogitBias(12, -5.0), LogitBias(7, 2.5))
    lines.setPlainText("12: -5\nword: 1")
    assert problem.text() == "Line 2 is not a token's number and a bias, as in 1234: -5."
    parameters.change(top_k=3)
    assert (lines.toPlainText(), len(parameters.present.logit_bias)) == ("12: -5\nword: 1", 2)
    find(window, "reset-logit_bias").click()
    assert (lines.toPlainText(), problem.isHidden(), parameters.present.logit_bias) == ("", True, ())
