"""The buttons beside a user's message."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, question
from ui.chat.transcript.beside import fitting
from ui.chat.transcript.buttons import ActionButton
from ui.chat.transcript.commands import Asked, Command
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme, ThemeMode

TEXTS = {"short": "Say hi", "one letter": "I", "long": "many words " * 60, "unbroken": "x" * 900, "lines": "a\n" * 12}


def shown(view: TranscriptView, message: str) -> list[ActionButton]:
    found = [one for one in view.viewport().findChildren(ActionButton) if one.isVisible()]
    return sorted((one for one in found if one.key and one.key.message == message), key=lambda one: one.x())


def bubble(view: TranscriptView, row: int) -> QRect:
    """The bubble of a message whose parts are all seen."""
    look, message = view.content.look, view.content.message(row)
    across, down = look.bubble_padding
    seen = [one for one in view.content.placed if one.row == row and 0 < one.section < message.foot]
    top, bottom = seen[0].y - down, seen[-1].y + seen[-1].height + down
    left = view.scene.column_x + message.x - across
    return QRect(int(left), int(top), int(message.width + 2 * across), int(bottom - top))


def hover(view: TranscriptView, row: int) -> None:
    QTest.mouseMove(view.viewport(), view.viewport().rect().bottomLeft() + QPoint(3, -3))
    QApplication.processEvents()
    QTest.mouseMove(view.viewport(), bubble(view, row).center())
    QApplication.processEvents()
    view.refresh()


def check_apart(view: TranscriptView, buttons: list[ActionButton], beside: QRect) -> None:
    for one, other in combinations(buttons, 2):
        assert not one.geometry().intersects(other.geometry()), (one.objectName(), other.objectName())
    for button in buttons:
        assert not button.geometry().intersects(beside)
        assert view.viewport().rect().contains(button.geometry())
        assert button.size() == button.size().expandedTo(button.sizeHint())


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("scale", [0.8, 1.0, 1.4, 2.0])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_two_buttons_meet(make_view: MakeView, theme: Theme, mode: ThemeMode, scale: float, text: str) -> None:
    theme.set_mode(mode)
    theme.set_scale(scale)
    view = make_view([question(text, "q"), answer("Hi.", "a")], 1000, 1600)
    hover(view, 0)
    buttons, beside = shown(view, "q"), bubble(view, 0)
    names = [one.objectName() for one in buttons]
    assert names == ["messageMenuButton", "editMessageButton", "copyMessageButton"]
    check_apart(view, buttons, beside)
    last = buttons[-1].geometry()
    assert 0 < beside.left() - last.right() <= view.content.look.px(8)
    line = beside.bottom() - view.content.look.bubble_padding[1] - view.content.look.line / 2
    assert abs(last.center().y() - line) <= 2
    check_apart(view, shown(view, "a"), beside)


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
@pytest.mark.parametrize("width", [260, 420, 560])
def test_in_a_narrow_window_the_menu_comes_first(make_view: MakeView, theme: Theme, scale: float, width: int) -> None:
    theme.set_scale(scale)
    view = make_view([question("many words " * 8, "q"), answer("Hi.", "a")], width, 1600)
    hover(view, 0)
    buttons = shown(view, "q")
    check_apart(view, buttons, bubble(view, 0))
    names = [one.objectName() for one in buttons]
    assert names == ["messageMenuButton", "editMessageButton", "copyMessageButton"][: len(names)]


@pytest.mark.parametrize("text", ["Say hi", "many words " * 60], ids=["short", "long"])
def test_a_click_on_the_pencil_edits(make_view: MakeView, text: str) -> None:
    view = make_view([question(text, "q"), answer("Hi.", "a")], 1000, 900)
    asked: list[Asked] = []
    view.command_requested.connect(asked.append)
    hover(view, 0)
    pencil = next(one for one in shown(view, "q") if one.objectName() == "editMessageButton")
    place: Callable[[QPoint], QWidget | None] = view.viewport().childAt
    under = place(pencil.geometry().center())
    assert isinstance(under, QAbstractButton)
    QTest.mouseClick(under, Qt.MouseButton.LeftButton)
    assert [(one.command, one.message) for one in asked] == [(Command.EDIT, "q")]
    assert QApplication.activePopupWidget() is None


def test_tab_walks_the_buttons_from_left_to_right(make_view: MakeView) -> None:
    view = make_view([question("Say hi", "q"), answer("Hi.", "a")], 1000, 900)
    hover(view, 0)
    view.setFocus()
    names = []
    for _ in range(3):
        QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        names.append(focused.objectName() if focused else "")
    assert names == ["messageMenuButton", "editMessageButton", "copyMessageButton"]


def test_what_does_not_fit_is_left_out() -> None:
    assert fitting([40, 40, 107], 187) == 3
    assert fitting([40, 40, 107], 186) == 2
    assert fitting([40, 40, 107], 39) == 0
    assert fitting([], 0) == 0
