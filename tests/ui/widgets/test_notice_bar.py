"""Notices are shown, replaced, limited to three, answered, and leave."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.notices import Action, Notice, Notices, Severity
from ui.theme import Theme
from ui.widgets.notice_bar import NoticeBar
from ui.widgets.notice_card import NoticeCard, Sentence


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def bar(qtbot: QtBot, theme: Theme, notices: Notices) -> NoticeBar:
    bar = NoticeBar(notices, theme)
    qtbot.addWidget(bar)
    bar.setGeometry(100, 100, 800, 200)
    QCursor.setPos(0, 0)
    return bar


def button(bar: NoticeBar, text: str) -> QPushButton:
    found = [b for b in bar.findChildren(QPushButton) if b.isVisible() and text in (b.text(), b.accessibleName())]
    assert found, f"no button {text}"
    return found[-1]


def shown(bar: NoticeBar) -> list[str]:
    return [card.text for card in bar.cards if card.isVisible()]


def test_a_notice_appears_and_is_closed(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    assert bar.isHidden()
    notices.post(Notice("a", Severity.ERROR, "It <b>broke</b>."))
    assert bar.isVisible()
    assert shown(bar) == ["It <b>broke</b>."]
    with qtbot.waitSignal(bar.left):
        qtbot.mouseClick(button(bar, "Close notice"), Qt.MouseButton.LeftButton)
    assert bar.isHidden()


def test_a_closed_notice_is_told_a_replaced_or_withdrawn_one_not(
    bar: NoticeBar, notices: Notices, qtbot: QtBot
) -> None:
    closed: list[str] = []
    notices.closed.connect(closed.append)
    notices.post(Notice("a", Severity.INFO, "First.", actions=(Action("Undo", lambda: closed.append("undo")),)))
    notices.post(Notice("a", Severity.INFO, "Again.", actions=(Action("Undo", lambda: closed.append("undo")),)))
    notices.post(Notice("b", Severity.INFO, "Other."))
    notices.withdraw("b")
    assert closed == []
    qtbot.mouseClick(button(bar, "Undo"), Qt.MouseButton.LeftButton)
    assert closed == ["a", "undo"]


def test_the_same_key_replaces(bar: NoticeBar, notices: Notices) -> None:
    notices.post(Notice("load", Severity.ERROR, "First."))
    notices.post(Notice("other", Severity.INFO, "Other."))
    notices.post(Notice("load", Severity.ERROR, "Second."))
    assert shown(bar) == ["Other.", "Second."]
    notices.withdraw("load")
    notices.withdraw("unknown")
    assert shown(bar) == ["Other."]


def test_three_are_shown_and_older_ones_wait(bar: NoticeBar, notices: Notices) -> None:
    for number in range(5):
        notices.post(Notice(str(number), Severity.INFO, f"Notice {number}."))
    assert shown(bar) == ["Notice 2.", "Notice 3.", "Notice 4."]
    notices.withdraw("4")
    assert shown(bar) == ["Notice 1.", "Notice 2.", "Notice 3."]


def test_an_action_runs_once_and_closes(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    ran: list[int] = []
    notices.post(Notice("a", Severity.INFO, "Deleted.", actions=(Action("Undo", lambda: ran.append(1)),)))
    qtbot.mouseClick(button(bar, "Undo"), Qt.MouseButton.LeftButton)
    assert ran == [1]
    assert bar.isHidden()


def test_an_action_may_post_the_same_key_again(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    def again() -> None:
        notices.post(Notice("a", Severity.ERROR, "Failed again."))

    notices.post(Notice("a", Severity.ERROR, "Failed.", actions=(Action("Try again", again),)))
    qtbot.mouseClick(button(bar, "Try again"), Qt.MouseButton.LeftButton)
    assert shown(bar) == ["Failed again."]


def test_details_fold_out_and_can_be_copied(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    notices.post(Notice("a", Severity.ERROR, "It ended.", "line 1\nline 2"))
    text = bar.findChild(QPlainTextEdit)
    assert text is not None
    assert not text.isVisible()
    qtbot.mouseClick(button(bar, "Details"), Qt.MouseButton.LeftButton)
    assert text.isVisible()
    qtbot.mouseClick(button(bar, "Copy details"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "It ended.\n\nline 1\nline 2"


def test_long_details_open_at_their_end(qtbot: QtBot, bar: NoticeBar, notices: Notices) -> None:
    notices.post(Notice("k", Severity.ERROR, "Gone.", "\n".join(f"line {number}" for number in range(200))))
    qtbot.mouseClick(button(bar, "Details"), Qt.MouseButton.LeftButton)
    text = bar.findChild(QPlainTextEdit)
    assert text is not None
    assert text.verticalScrollBar().maximum() > 0
    assert text.verticalScrollBar().value() == text.verticalScrollBar().maximum()


def test_a_timeout_takes_it_away(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    notices.post(Notice("a", Severity.INFO, "For a moment.", timeout_ms=30))
    assert bar.isVisible()
    qtbot.waitUntil(bar.isHidden)


def test_escape_closes_the_card_with_the_focus(bar: NoticeBar, notices: Notices, qtbot: QtBot) -> None:
    notices.post(Notice("a", Severity.INFO, "Hello."))
    close = button(bar, "Close notice")
    close.setFocus()
    qtbot.keyClick(close, Qt.Key.Key_Escape)
    assert bar.isHidden()


def test_long_text_wraps_instead_of_widening(bar: NoticeBar, notices: Notices) -> None:
    notices.post(
        Notice("a", Severity.WARN, "A long sentence about what happened. " * 12, actions=(Action("Do", print),))
    )
    assert bar.width() == 800
    assert bar.minimumSizeHint().width() < 700


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_long_sentence_is_never_cut(qtbot: QtBot, theme: Theme, scale: float) -> None:
    theme.set_scale(scale)
    buttons = (Action("Details", lambda: None), Action("Load again", lambda: None))
    card = NoticeCard(Notice("a", Severity.ERROR, "The engine was killed from outside. " * 4, actions=buttons), theme)
    place = QWidget()
    qtbot.addWidget(place)
    column = QVBoxLayout(place)
    crowd = QPlainTextEdit()
    crowd.setMinimumHeight(200)
    column.addWidget(crowd)
    column.addWidget(card)
    place.setMinimumSize(10, 10)
    place.resize(700, 330)
    place.show()
    text = card.findChild(Sentence)
    assert text is not None
    qtbot.waitUntil(lambda: text.height() >= text.heightForWidth(text.width()))
