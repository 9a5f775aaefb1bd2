"""Selecting and copying over blocks and messages (cases 38, 52)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.chat.records import Status
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, buttons, clipboard, dialogue, model_of, point_of, question
from tests.ui.transcript.test_parse import ANGLES, HTML
from ui.chat.transcript.selection import LARGE, message_text
from ui.chat.transcript.view import TranscriptView

CODE = "def f():\n\treturn 1 \n\n    # four\n\u00a0no break\u200bhere"


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(port, (start + end) / 2)
    QTest.mouseMove(port, end)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)


def ctrl(view: TranscriptView, key: Qt.Key) -> None:
    QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)


def shift(view: TranscriptView, key: Qt.Key, times: int = 1, *, word: bool = False) -> None:
    modifiers = Qt.KeyboardModifier.ShiftModifier
    if word:
        modifiers |= Qt.KeyboardModifier.ControlModifier
    for _ in range(times):
        QTest.keyClick(view, key, modifiers)


def test_case_52_from_one_message_into_the_next(make_view: MakeView) -> None:
    view = make_view([question("First line\nsecond line"), answer(f"One paragraph.\n\nAnother.\n\n```py\n{CODE}\n```")])
    drag(view, point_of(view, 0, "First") - QPoint(8, 0), point_of(view, 1, "here") + QPoint(60, 0))
    ctrl(view, Qt.Key.Key_C)
    assert clipboard() == f"First line\nsecond line\n\nOne paragraph.\n\nAnother.\n\n{CODE}"
    assert not set(clipboard()) & set("\u2028\u2029\ufffc")


def test_case_52_the_button_copies_exactly_the_code(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([answer(f"Text\n\n```py\n{CODE}\n```\n")])
    (button,) = buttons(view, "copyCodeButton")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert clipboard() == CODE


@pytest.mark.parametrize("text", [ANGLES, HTML, "# a\n\n* b _c_\n\n| x |\n|---|\n| `1` |\n"])
def test_case_38_the_message_s_button_copies_its_source(make_view: MakeView, qtbot: QtBot, text: str) -> None:
    view = make_view([answer(text)])
    (button,) = buttons(view, "copyMessageButton")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert clipboard() == text


def test_all_of_it(make_view: MakeView) -> None:
    text = "# H\n\n- a\n- b\n  1. c\n- [x] d\n\n| k | v |\n|---|---|\n| 1 | 2 |"
    view = make_view([question("Q <b>"), answer(text)])
    ctrl(view, Qt.Key.Key_A)
    ctrl(view, Qt.Key.Key_C)
    assert clipboard() == "Q <b>\n\nH\n\n- a\n- b\n  1. c\n[x] d\n\nk\tv\n1\t2"


def test_items_that_begin_together_are_copied_in_one_line(make_view: MakeView) -> None:
    view = make_view([answer("- - a\n  - b\n- > c\n- 2. d")])
    ctrl(view, Qt.Key.Key_A)
    assert view.selected_text() == "- - a\n  - b\n\n- c\n- 2. d"


def test_part_of_a_word_a_word_a_paragraph(make_view: MakeView) -> None:
    view = make_view([answer("Some words here.\n\nMore words.")])
    at = point_of(view, 0, "ords here")
    drag(view, at - QPoint(3, 0), point_of(view, 0, "s here") - QPoint(3, 0))
    assert view.selected_text() == "ord"
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.selected_text() == "words"
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.selected_text() == "Some words here."


def test_what_is_selected_is_seen(make_view: MakeView) -> None:
    view = make_view([answer("Some words here.\n\n```py\ncode = 1\n```\n\n| cell |\n|---|\n\nשלום עולם and more")])
    plain = view.viewport().grab().toImage()
    colour = view.content.look.tokens.selection
    view.actions_of.select_all()
    chosen = view.viewport().grab().toImage()
    for words in ("ome", "ode", "ell", "and"):
        at = point_of(view, 0, words)
        line = [chosen.pixelColor(at.x(), at.y() + dy).name().upper() for dy in range(-9, 10)]
        assert colour in line, words
        assert colour not in [plain.pixelColor(at.x(), at.y() + dy).name().upper() for dy in range(-9, 10)]


def test_what_is_being_selected_does_not_move_away(make_view: MakeView) -> None:
    model = model_of([*dialogue(10), answer("word " * 60, "run", status=Status.STREAMING)])
    view = make_view(model)
    port = view.viewport()
    start, end = point_of(view, 10, "ord"), point_of(view, 10, "rd word")
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(port, end)
    QTest.mouseMove(port, end + QPoint(60, 0))
    model.update(answer("word " * 600, "run", status=Status.STREAMING))
    view.refresh()
    assert point_of(view, 10, "ord") == start
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)
    assert not view.content.follow


def test_shift_click_extends(make_view: MakeView) -> None:
    view = make_view([answer("Some words here.\n\nMore words.")])
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 0, "words") - QPoint(4, 0))
    end = point_of(view, 0, "re w") - QPoint(3, 0)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, end)
    assert view.selected_text() == "words here.\n\nMo"


def test_by_keyboard(make_view: MakeView) -> None:
    view = make_view([question("One two"), answer("Three 👩‍👩‍👧 four\n\nfive", "x")])
    view.selection.start((0, 1, 0))
    shift(view, Qt.Key.Key_Right, 3)
    assert view.selected_text() == "One"
    shift(view, Qt.Key.Key_Right, word=True)
    assert view.selected_text() == "One two"
    shift(view, Qt.Key.Key_Right, word=True)
    shift(view, Qt.Key.Key_Right, word=True)
    assert view.selected_text() == "One two\n\nThree"
    shift(view, Qt.Key.Key_Right, 2)
    assert view.selected_text() == "One two\n\nThree 👩‍👩‍👧", "a family is one step"
    shift(view, Qt.Key.Key_Down)
    assert view.selected_text().endswith("four\n\nfive")
    shift(view, Qt.Key.Key_Home, word=True)
    assert view.selected_text() == ""
    shift(view, Qt.Key.Key_End, word=True)
    assert view.selected_text() == "One two\n\nThree 👩‍👩‍👧 four\n\nfive"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.selected_text() == ""


def test_by_keyboard_through_code_and_tables(make_view: MakeView) -> None:
    view = make_view([answer("```\nab\ncd\n```\n\n| k | v |\n|---|---|\n| 1 | 2 |\n")])
    view.selection.start((0, 1, 0))
    shift(view, Qt.Key.Key_Right, 4)
    assert view.selected_text() == "ab\nc"
    shift(view, Qt.Key.Key_Down, 4)
    shift(view, Qt.Key.Key_End)
    assert view.selected_text() == "ab\ncd\n\nk\tv\n1\t2"


def test_the_selection_moves_with_its_rows(make_view: MakeView) -> None:
    view = make_view(dialogue(4))
    model = view.model  # type: ignore[attr-defined]
    view.selection.anchor, view.selection.cursor = (2, 1, 0), (2, 1, 8)
    chosen = view.selected_text()
    rows = model.rows
    model.show([rows[0], rows[1], rows[2]])
    assert view.selected_text() == chosen == "Question"
    model.show(rows[:2])
    view.refresh()
    assert view.selected_text() == ""


def test_a_huge_selection_takes_the_text_as_it_was_written(make_view: MakeView) -> None:
    text = "**words** and more " * (LARGE // 19 + 1)
    view = make_view([question("a", "1"), answer(text, "2"), question("b", "3")])
    ctrl(view, Qt.Key.Key_A)
    assert view.selected_text() == f"a\n\n{text}\n\nb"


def test_half_characters_do_not_reach_the_clipboard(make_view: MakeView) -> None:
    view = make_view([question("a\ud83d b\u0000")])
    ctrl(view, Qt.Key.Key_A)
    ctrl(view, Qt.Key.Key_C)
    assert clipboard().startswith("a\ufffd b")


def test_words_of_one_message(make_view: MakeView) -> None:
    view = make_view([question("Q"), answer("**bold** text\n\n- item", "x")])
    assert message_text(view.content, 1) == "bold text\n\n- item"


def test_the_pointer_held_below_the_view_scrolls(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(dialogue(30))
    view.scroll_to_start()
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    QTest.mouseMove(port, QPoint(300, port.height() + 30))
    qtbot.waitUntil(lambda: view.verticalScrollBar().value() > 200)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(300, port.height() + 30))
    assert len(view.selected_text()) > 500
