"""Finding words in the open conversation."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, dialogue, question
from ui.chat.transcript import hit
from ui.chat.transcript.view import TranscriptView

ROWS = [
    question("Where is the needle?", "q1"),
    answer("A **nee**dle? No: a *Needle*.\n\n```python\nneedle = 1\n```\n\n| a | b |\n|-|-|\n| needle | x |", "a1"),
    answer("Nothing here.", "a2", thinking="the needle of a thought"),
]


def find(view: TranscriptView, words: str, qtbot: QtBot) -> None:
    finder = view.finding.finder
    view.finding.show_words(0, words)
    qtbot.waitUntil(lambda: finder.done)


def chosen(view: TranscriptView) -> str:
    return view.selected_text()


def test_matches_stand_in_reading_order_whatever_they_stand_in(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    find(view, "needle", qtbot)
    places = [
        (match[0], type(view.content.message(match[0]).part(match[1])).__name__)
        for match in view.finding.finder.matches
    ]
    assert places == [(0, "Paragraph"), (1, "Paragraph"), (1, "Paragraph"), (1, "Code"), (1, "Table")]
    assert (view.finding.finder.chosen, chosen(view)) == (0, "needle")


def test_steps_go_round(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    find(view, "needle", qtbot)
    seen = []
    for _ in range(6):
        seen.append(view.finding.finder.chosen)
        view.finding.bar.stepped.emit(1)
    assert seen == [0, 1, 2, 3, 4, 0]
    view.finding.bar.stepped.emit(-1)
    view.finding.bar.stepped.emit(-1)
    assert view.finding.finder.chosen == 4


def test_a_match_far_away_is_brought_into_view(make_view: MakeView, qtbot: QtBot) -> None:
    rows = dialogue(60)
    rows[3] = answer("word " * 4000 + "needle " + "word " * 4000, rows[3].id)
    rows[50] = answer("x" * 3000 + "\n```\n" + "y " * 2000 + "needle\n```", rows[50].id)
    view = make_view(rows)
    find(view, "needle", qtbot)
    for row in (3, 50):
        assert view.finding.finder.matches[view.finding.finder.chosen or 0][0] == row
        cursor = view.selection.cursor
        assert cursor is not None
        box = hit.caret_rect(view.scene, cursor)
        assert box is not None
        assert 0 <= box.top() <= view.viewport().height()
        assert 0 <= box.left() <= view.viewport().width()
        assert chosen(view) == "needle"
        view.finding.bar.stepped.emit(1)


def test_the_first_match_behind_what_is_seen_is_chosen(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(dialogue(60))
    view.scroll_to_end()
    view.finding.open("Answer")
    qtbot.waitUntil(lambda: view.finding.finder.chosen is not None and view.finding.finder.done)
    top = view.finding.finder.matches[view.finding.finder.chosen or 0][0]
    assert top > 40


def test_typing_searches_and_says_how_many(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    view.finding.open()
    field, count = view.findChild(QLineEdit, "findField"), view.findChild(QLabel, "findCount")
    assert isinstance(field, QLineEdit)
    assert isinstance(count, QLabel)
    qtbot.keyClicks(field, "NEEDLE")
    qtbot.waitUntil(lambda: count.text() == "1 of 5")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert count.text() == "2 of 5"
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert count.text() == "1 of 5"
    qtbot.keyClicks(field, "x")
    qtbot.waitUntil(lambda: count.text() == "Nothing found")


def test_escape_closes_and_gives_the_keyboard_back(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    find(view, "needle", qtbot)
    field = view.findChild(QLineEdit, "findField")
    assert isinstance(field, QLineEdit)
    with qtbot.waitSignal(view.finding.left):
        qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not view.finding.bar.isVisible()
    assert view.scene.marks is None


def test_escape_in_the_bar_does_not_stop_an_answer(make_view: MakeView, qtbot: QtBot) -> None:
    """The window's shortcut for Escape waits until the bar is closed."""
    view = make_view(ROWS)
    stops: list[str] = []
    stop = QShortcut(QKeySequence(Qt.Key.Key_Escape), view.window())
    stop.activated.connect(lambda: stops.append("stopped"))
    view.window().activateWindow()
    qtbot.waitUntil(view.window().isActiveWindow)
    view.finding.open()
    field = view.findChild(QLineEdit, "findField")
    assert isinstance(field, QLineEdit)
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (view.finding.bar.isVisible(), stops) == (False, [])
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert stops == ["stopped"]


def test_selected_words_are_looked_for(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    view.selection.anchor, view.selection.cursor = (2, 2, 0), (2, 2, 7)
    assert view.selected_text() == "Nothing"
    view.finding.open()
    assert view.finding.bar.words == "Nothing"


@pytest.mark.parametrize("words", ["", "   ", "\n"])
def test_nothing_is_looked_for_without_words(make_view: MakeView, qtbot: QtBot, words: str) -> None:
    view = make_view(ROWS)
    view.finding.finder.search(words, (0, 0, 0))
    assert (view.finding.finder.active, view.finding.finder.matches) == (False, [])


@pytest.mark.parametrize("words", ["(", "[a", "\\", "*", "c++", "a|b"])
def test_signs_mean_themselves(make_view: MakeView, qtbot: QtBot, words: str) -> None:
    view = make_view([question(f"so {words} it is")])
    find(view, words, qtbot)
    assert len(view.finding.finder.matches) == 1
    assert chosen(view) == words


def test_new_messages_are_looked_through_and_the_place_stays(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(ROWS)
    find(view, "needle", qtbot)
    view.finding.bar.stepped.emit(1)
    offset = view.content.offset
    view.model.show([*ROWS, answer("one more needle", "a3")])  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: len(view.finding.finder.matches) == 6 and view.finding.finder.done)
    assert view.finding.finder.chosen == 1
    assert view.content.offset == offset


def test_a_message_is_shown_by_its_id(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(dialogue(60))
    assert view.show_message("m7", "Answer")
    qtbot.waitUntil(lambda: view.finding.finder.chosen is not None)
    assert view.finding.finder.matches[view.finding.finder.chosen or 0][0] == 7
    assert not view.show_message("nobody")
