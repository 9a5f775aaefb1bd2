"""Arrow keys over real widgets: forms are gone through, nothing is changed by that, nothing is a trap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from tests.ui.game.conftest import Page, Stage

UP, DOWN, LEFT, RIGHT = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right


class Form(QWidget):
    """A page with one of each kind in a column, and a list beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Form")
        self.line, self.combo, self.spin = QLineEdit("ab"), QComboBox(), QSpinBox()
        self.slider, self.check, self.text = QSlider(Qt.Orientation.Horizontal), QCheckBox("check"), QPlainTextEdit()
        self.text.setPlainText("one\ntwo")
        self.combo.addItems(["first", "second"])
        self.spin.setValue(5)
        self.slider.setValue(50)
        self.rows = QListWidget()
        self.rows.addItems(["a", "b", "c"])
        self.rows.setCurrentRow(0)
        column = QVBoxLayout()
        names = ("line", "combo", "spin", "slider", "check", "text")
        for name in names:
            widget = getattr(self, name)
            widget.setObjectName(name)
            column.addWidget(widget)
        self.rows.setObjectName("rows")
        row = QHBoxLayout(self)
        row.addLayout(column)
        row.addWidget(self.rows)


@pytest.fixture
def form(stage: Stage) -> Form:
    made = Form()
    stage.pages.show_page(made)
    made.line.setFocus()
    return made


def test_down_and_up_go_through_a_form_and_change_nothing(stage: Stage, form: Form) -> None:
    visited = [stage.focus()]
    for _ in range(5):
        stage.press(DOWN)
        visited.append(stage.focus())
    assert visited == ["line", "combo", "spin", "slider", "check", "text"]
    assert (form.combo.currentIndex(), form.spin.value(), form.slider.value()) == (0, 5, 50)
    assert not form.check.isChecked()
    for _ in range(5):
        stage.press(UP)
    assert stage.focus() == "line"
    stage.press(UP)
    assert stage.focus() == "pageBack"


def test_left_and_right_change_numbers(stage: Stage, form: Form) -> None:
    form.spin.setFocus()
    stage.press(RIGHT, RIGHT, LEFT)
    assert form.spin.value() == 6
    form.slider.setFocus()
    stage.press(RIGHT)
    assert form.slider.value() == 51
    assert stage.focus() == "slider"


def test_numbers_are_left_at_their_ends(stage: Stage, form: Form) -> None:
    form.slider.setValue(form.slider.maximum())
    form.slider.setFocus()
    stage.press(RIGHT)
    assert stage.focus() == "rows"
    form.spin.setValue(form.spin.maximum() - 1)
    form.spin.setFocus()
    stage.press(RIGHT)
    assert (stage.focus(), form.spin.value()) == ("spin", form.spin.maximum())
    stage.press(RIGHT)
    assert stage.focus() == "rows"


def test_text_keeps_its_arrows_until_its_end(stage: Stage, form: Form) -> None:
    form.text.setFocus()
    stage.press(DOWN)
    assert stage.focus() == "text"
    assert form.text.textCursor().blockNumber() == 1
    stage.press(UP, UP)
    assert stage.focus() == "check"
    form.line.setFocus()
    form.line.setCursorPosition(1)
    stage.press(RIGHT)
    assert (stage.focus(), form.line.cursorPosition()) == ("line", 2)
    stage.press(RIGHT)
    assert stage.focus() == "rows"


def test_lists_are_left_at_their_ends_and_to_the_sides(stage: Stage, form: Form) -> None:
    form.rows.setFocus()
    stage.press(DOWN, DOWN)
    assert (stage.focus(), form.rows.currentRow()) == ("rows", 2)
    stage.press(DOWN)
    assert (stage.focus(), form.rows.currentRow()) == ("rows", 2)
    stage.press(LEFT)
    assert stage.focus() != "rows"
    form.rows.setFocus()
    stage.press(UP, UP)
    assert (stage.focus(), form.rows.currentRow()) == ("rows", 0)
    stage.press(UP)
    assert stage.focus() == "pageBack"


def test_enter_switches_and_opens_lists(stage: Stage, form: Form) -> None:
    form.check.setFocus()
    stage.press(Qt.Key.Key_Return)
    assert form.check.isChecked()
    form.combo.setFocus()
    stage.press(Qt.Key.Key_Return)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()


def test_nothing_of_the_chat_gets_the_keyboard_under_a_page(stage: Stage, form: Form) -> None:
    for key in (UP, LEFT, DOWN, RIGHT) * 6:
        stage.press(key)
        assert stage.focus() not in ("first", "second")


def test_in_the_chat_arrows_move_between_buttons(stage: Stage) -> None:
    stage.find("first").setFocus()
    stage.press(DOWN)
    assert stage.focus() == "second"
    stage.press(DOWN)
    assert stage.focus() == "second"
    stage.press(UP)
    assert stage.focus() == "first"


def long_page() -> Iterator[QPushButton]:
    for number in range(40):
        button = QPushButton(f"button {number}")
        button.setObjectName(f"row{number}")
        button.setMinimumHeight(44)
        yield button


def test_scrolled_pages_scroll_to_what_gets_the_keyboard(stage: Stage) -> None:
    inside, area, page = QWidget(), QScrollArea(), Page("Long")
    buttons = list(long_page())
    column = QVBoxLayout(inside)
    for button in buttons:
        column.addWidget(button)
    area.setWidget(inside)
    area.setWidgetResizable(True)
    layout = page.layout()
    assert layout is not None
    layout.addWidget(area)
    stage.pages.show_page(page)
    buttons[0].setFocus()
    for number in range(1, 40):
        stage.press(DOWN)
        assert stage.focus() == f"row{number}"
    assert area.verticalScrollBar().value() == area.verticalScrollBar().maximum()
    assert not buttons[39].visibleRegion().isEmpty()
    stage.press(*[UP] * 40)
    assert stage.focus() == "Long-button"


def test_buttons_that_exclude_each_other_are_all_reached(stage: Stage) -> None:
    page, group = Page("Group"), QButtonGroup(stage.window)
    layout = page.layout()
    assert layout is not None
    buttons = [QPushButton(str(number)) for number in range(3)]
    for number, button in enumerate(buttons):
        button.setObjectName(f"choice{number}")
        button.setCheckable(True)
        group.addButton(button)
        layout.addWidget(button)
    buttons[0].setChecked(True)
    stage.pages.show_page(page)
    buttons[0].setFocus()
    stage.press(DOWN, DOWN)
    assert stage.focus() == "choice2"
    assert buttons[0].isChecked()
    stage.press(Qt.Key.Key_Return)
    assert buttons[2].isChecked()
    stage.press(UP)
    assert stage.focus() == "choice1"
