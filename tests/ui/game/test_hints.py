"""What the line at the lower edge says, and that pressing a button does that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QSpinBox,
)

from app.pad.keyboard import KeyboardMode
from tests.ui.game.conftest import Page, Stage
from ui.shell.hint_bar import HintBar, HintButton
from ui.shell.hints import Held, Where, held_by, hints_for
from ui.shell.presses import ChatDoings


def said(where: Where, *, pad: bool = True) -> dict[str, str]:
    return {hint.press.name: hint.text for hint in hints_for(where, pad=pad)}


def test_the_chat_by_pad() -> None:
    assert said(Where(Held.BUTTON, scrolls=True)) == {
        "A": "Press",
        "X": "New chat",
        "Y": "Models",
        "L1": "Scroll up",
        "R1": "Scroll down",
        "MENU": "Commands",
    }
    assert said(Where(Held.FIELD, answering=True))["B"] == "Stop"
    assert said(Where(Held.FIELD))["A"] == "Keyboard"


def test_without_a_pad_only_keys_that_there_are() -> None:
    assert said(Where(Held.FIELD), pad=False) == {"X": "New chat", "Y": "Models", "MENU": "Commands"}
    assert all(hint.keys for hint in hints_for(Where(Held.ROWS, in_chat=False, turns=True), pad=False))


def test_pages_go_back_and_turn() -> None:
    assert said(Where(Held.SLIDER, in_chat=False)) == {"RIGHT": "Change", "B": "Back"}
    assert said(Where(Held.NUMBER, in_chat=False)) == {"A": "Keyboard", "RIGHT": "Change", "B": "Back"}
    assert said(Where(Held.OTHER, in_chat=False, turns=True)) == {
        "B": "Back",
        "L1": "Previous page",
        "R1": "Next page",
    }
    assert said(Where(Held.ROWS, in_chat=False, marks=True))["X"] == "Mark"


def test_a_menu_has_two_buttons() -> None:
    assert said(Where(Held.BUTTON, popup=True)) == {"A": "Choose", "B": "Close"}


def test_what_has_the_keyboard(qapp: QApplication) -> None:
    read_only, one_of_many, check = QPlainTextEdit(), QPushButton(), QPushButton()
    read_only.setReadOnly(True)
    one_of_many.setCheckable(True)
    check.setCheckable(True)
    group = QButtonGroup()
    group.addButton(one_of_many)
    kinds = {
        QLineEdit(): Held.FIELD,
        QPlainTextEdit(): Held.FIELD,
        read_only: Held.OTHER,
        QSpinBox(): Held.NUMBER,
        QSlider(): Held.SLIDER,
        QComboBox(): Held.CHOICE,
        QCheckBox(): Held.SWITCH,
        check: Held.SWITCH,
        one_of_many: Held.BUTTON,
        QPushButton(): Held.BUTTON,
        QListWidget(): Held.ROWS,
        QLabel(): Held.OTHER,
    }
    assert {held_by(widget) for widget in kinds} == set(Held)
    for widget, held in kinds.items():
        assert held_by(widget) is held, widget
    assert held_by(None) is Held.OTHER


class Turned(Page):
    """A page with parts."""

    def __init__(self) -> None:
        super().__init__("Turned")
        self.steps: list[int] = []
        self.field, self.number, self.rows = QLineEdit(), QSpinBox(), QListWidget()
        self.rows.addItems(["a", "b"])
        self.rows.setCurrentRow(0)
        self.rows.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        self.rows.clearSelection()
        layout = self.layout()
        assert layout is not None
        for widget in (self.field, self.number, self.rows):
            layout.addWidget(widget)

    def turn(self, step: int) -> None:
        self.steps.append(step)


class Played:
    """A shell whose chat notes what it is asked for."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.done = stage, list[str]()
        self.answering = False

        def note(word: str) -> Callable[..., object]:
            return lambda *values: self.done.append(" ".join([word, *map(str, values)]))

        stage.pad.start = lambda: None  # type: ignore[method-assign]
        stage.game.begin(
            ChatDoings(
                new_chat=note("new"),
                models=note("models"),
                commands=note("commands"),
                scrolls=lambda: True,
                scroll=note("scroll"),
                answering=lambda: self.answering,
                stop=note("stop"),
                focus=stage.find("first").setFocus,
            )
        )
        stage.pad._set_pads(1)
        stage.find("first").setFocus()

    def press(self, *presses: str) -> None:
        for press in presses:
            self.stage.pad.pressed.emit(press)
            QApplication.sendPostedEvents()

    def names(self) -> list[str]:
        buttons = self.stage.window.findChildren(HintButton)
        return [button.accessibleName() for button in buttons if button.isVisible()]

    def hints(self) -> list[str]:
        bar = self.stage.window.findChild(HintBar)
        assert isinstance(bar, HintBar)
        return [hint.text for hint in bar.hints]


@pytest.fixture
def played(stage: Stage) -> Played:
    return Played(stage)


def test_buttons_of_a_pad_in_the_chat(stage: Stage, played: Played) -> None:
    clicked: list[str] = []
    for name in ("first", "second"):
        button = stage.find(name)
        assert isinstance(button, QPushButton)
        button.clicked.connect(lambda _checked=False, name=name: clicked.append(name))
    played.press("a", "down", "a", "x", "y", "menu", "l1", "r1", "b")
    assert clicked == ["first", "second"]
    assert played.done == ["new", "models", "commands", "scroll -1", "scroll 1"]
    played.answering = True
    played.press("b")
    assert played.done[-1] == "stop"


def test_buttons_of_a_pad_in_a_page(stage: Stage, played: Played) -> None:
    page = Turned()
    stage.pages.show_page(page)
    page.field.setFocus()
    stage.until(lambda: played.hints() == ["Keyboard", "Back", "Previous page", "Next page"])
    played.press("a", "r1", "l1", "x", "y")
    [(place, mode)] = stage.keyboard.opened
    assert place[2:] == (page.field.width(), page.field.height())
    assert mode is KeyboardMode.ONE_LINE
    assert page.steps == [1, -1]
    played.press("down", "right", "a")
    assert page.number.value() == 1
    assert stage.keyboard.opened[-1][1] is KeyboardMode.NUMBER
    played.press("down")
    assert page.rows.hasFocus()
    stage.until(lambda: "Mark" in played.hints())
    played.press("x", "down", "x")
    assert [item.text() for item in page.rows.selectedItems()] == ["a", "b"]
    played.press("b")
    assert stage.pages.top is None
    assert played.done == []
    stage.until(lambda: played.hints()[0] == "Press")


def test_hints_tell_keys_until_a_pad_is_there(stage: Stage, played: Played) -> None:
    stage.pad._set_pads(0)
    stage.until(lambda: "Ctrl+N: New chat" in played.names())
    stage.pad._set_pads(1)
    stage.until(lambda: "X: New chat" in played.names())


def test_a_tap_on_a_hint_does_it_and_leaves_the_keyboard(stage: Stage, played: Played) -> None:
    stage.find("second").setFocus()
    stage.until(lambda: stage.shows("hint-y"))
    stage.click("hint-y")
    assert played.done == ["models"]
    assert stage.focus() == "second"


def test_a_menu_takes_the_buttons_and_the_hints(stage: Stage, played: Played) -> None:
    chosen: list[str] = []
    menu = QMenu(stage.window)
    for name in ("one", "two"):
        menu.addAction(name).triggered.connect(lambda _checked=False, name=name: chosen.append(name))
    menu.popup(stage.window.mapToGlobal(stage.window.rect().center()))
    stage.until(lambda: QApplication.activePopupWidget() is menu)
    stage.until(lambda: played.hints() == ["Choose", "Close"])
    played.press("x", "y", "down", "down", "a")
    assert chosen == ["two"]
    stage.until(lambda: played.hints()[0] == "Press")
    assert played.done == []


def test_a_tap_into_a_field_brings_the_keyboard(stage: Stage, played: Played) -> None:
    page = Turned()
    stage.pages.show_page(page)
    page.button.setFocus()
    stage.qtbot.mouseClick(page.field, Qt.MouseButton.LeftButton)
    assert len(stage.keyboard.opened) == 1
    stage.qtbot.mouseClick(page.field, Qt.MouseButton.LeftButton)
    assert len(stage.keyboard.opened) == 2
    stage.qtbot.mouseClick(page.button, Qt.MouseButton.LeftButton)
    assert len(stage.keyboard.opened) == 2
    stage.click("keyboardButton")
    assert len(stage.keyboard.opened) == 3


def test_presses_for_another_program_mean_nothing(
    stage: Stage, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QApplication, "applicationState", lambda: Qt.ApplicationState.ApplicationInactive)
    played.press("x", "y", "a")
    assert played.done == []


def test_no_press_is_lost_on_a_window_without_focus(stage: Stage, played: Played) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    focused.clearFocus()
    played.press("down")
    assert stage.focus() == "first"
