"""What is seen of a message: author, words, notes, figures, buttons; by mouse, keyboard and screen reader."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.chat.rows import MessageRow
from engine.chat.records import Status
from engine.protocol.types import GenerationStats
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import (
    PARAGRAPH,
    answer,
    buttons,
    clipboard,
    dialogue,
    model_of,
    parts_of,
    question,
    words,
)
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.messages import KEPT_MESSAGES, KEPT_VIEWS
from ui.chat.transcript.notes import Note, NoteKind
from ui.chat.transcript.spoken import MessageLabel
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme, ThemeMode

CODE = "Text\n\n```py\n" + "x = 1  # a comment\n" * 8 + "y = '" + "long " * 60 + "'\n```\n"


def heights(view: TranscriptView) -> list[float]:
    message = view.content.message(0)
    return [message.measure(section) for section in range(message.sections)]


def notes(view: TranscriptView, row: int = 0) -> list[tuple[str, NoteKind]]:
    return [(part.text, part.kind) for part in view.content.message(row).parts if isinstance(part, Note)]


def test_case_37_nothing_was_said(make_view: MakeView) -> None:
    view = make_view([question("Q"), answer("  \n", stats=None)])
    assert notes(view, 1) == [("No answer text", NoteKind.QUIET)]
    assert buttons(view, "copyMessageButton") == []
    assert len(buttons(view, "regenerateButton")) == 1


def test_a_failure_stands_in_the_message(make_view: MakeView) -> None:
    view = make_view([answer("It began", status=Status.FAILED, error="The GPU was lost.")])
    assert words(view.content.message(0).parts) == ["It began", "The GPU was lost."]
    assert notes(view) == [("The GPU was lost.", NoteKind.FAILED)]
    cut = make_view([answer("It ended", error="The context is full.")])
    assert notes(cut) == [("The context is full.", NoteKind.CUT)]


def test_progress_before_the_first_token(make_view: MakeView) -> None:
    progress = "Reading the prompt 512 of 2,048 tokens"
    model = model_of([answer("", status=Status.STREAMING, stats=None, progress=progress)])
    view = make_view(model)
    assert notes(view) == [(progress, NoteKind.PROGRESS)]
    assert buttons(view, "copyMessageButton") == []
    model.update(answer("First", status=Status.STREAMING, stats=None))
    view.refresh()
    assert words(view.content.message(0).parts) == ["First"]


@pytest.mark.parametrize(
    ("fields", "foot"),
    [
        ({}, "312 tokens · 41.2 tok/s"),
        ({"versions": 2, "version": 2}, "2/2 · 312 tokens · 41.2 tok/s"),
        ({"status": Status.STOPPED}, "Stopped · 312 tokens · 41.2 tok/s"),
        ({"stats": None}, ""),
        ({"stats": GenerationStats(generated_tokens=1, decode_tps=0.0)}, "1 token"),
        (
            {"stats": GenerationStats(generated_tokens=312, decode_tps=41.2, drafted=40, accepted=29)},
            "312 tokens · 41.2 tok/s · 72 % of guesses right",
        ),
        ({"stats": GenerationStats(generated_tokens=12345, decode_tps=1234.56)}, "12,345 tokens · 1,234.6 tok/s"),
    ],
)
def test_figures(make_view: MakeView, fields: dict[str, Any], foot: str) -> None:
    view = make_view([answer("x", **fields)])
    assert view.words.foot(view.content.rows[0]) == foot


def test_a_user_s_bubble_fits_its_words(make_view: MakeView) -> None:
    view = make_view([question("Hi"), question(PARAGRAPH, "long")])
    short, long = view.content.message(0), view.content.message(1)
    assert short.width < 40
    assert 0.6 * view.content.column < long.width < 0.9 * view.content.column
    for message in (short, long):
        assert message.x + message.width + view.content.look.bubble_padding[0] == pytest.approx(view.content.column)


def test_buttons_of_the_last_message_and_of_the_one_under_the_pointer(make_view: MakeView) -> None:
    view = make_view([question("Q1", "1"), answer("A1", "2"), question("Q2", "3"), answer("A2", "4")])
    assert len(buttons(view, "copyMessageButton")) == 1
    QTest.mouseMove(view.viewport(), QPoint(300, int(view.content.placed[4].y) + 5))
    assert len(buttons(view, "copyMessageButton")) == 2
    assert len(buttons(view, "regenerateButton")) == 1
    view.set_hovered(None)
    assert len(buttons(view, "copyMessageButton")) == 1


def test_regenerate(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([question("Q"), answer("A")])
    (button,) = buttons(view, "regenerateButton")
    with qtbot.waitSignal(view.regenerate_requested):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert buttons(make_view([question("Q")]), "regenerateButton") == []
    running = make_view([question("Q"), answer("A", status=Status.STREAMING)])
    assert buttons(running, "regenerateButton") == []


def versions(count: int) -> list[MessageRow]:
    """An answer, written ``count`` times."""
    return [answer(f"Text {n}", f"v{n}", version=n, versions=count) for n in range(1, count + 1)]


def step_buttons(view: TranscriptView) -> list[QAbstractButton]:
    return buttons(view, "versionBackButton") + buttons(view, "versionOnButton")


def test_versions_can_be_walked_through_by_keyboard(make_view: MakeView) -> None:
    """Each version is another message; the focus stays on the button that brought it."""
    written = versions(3)
    model = model_of([question("Q"), written[2]])
    view = make_view(model)
    asked: list[tuple[str, int]] = []

    def show(message: str, step: int) -> None:
        asked.append((message, step))
        at = next(n for n, row in enumerate(written) if row.id == message)
        model.show([question("Q"), written[at + step]])
        view.refresh()

    view.version_requested.connect(show)
    back, on = step_buttons(view)
    assert (back.isEnabled(), on.isEnabled()) == (True, False)
    assert (back.accessibleName(), on.accessibleName()) == ("Previous version 3/3", "Next version 3/3")
    back.setFocus()
    for _ in range(2):
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Qt.Key.Key_Space)
    assert asked == [("v3", -1), ("v2", -1)]
    back, on = step_buttons(view)
    assert (back.isEnabled(), on.isEnabled()) == (False, True)
    assert QApplication.focusWidget() is on
    assert view.content.rows[1].text == "Text 1"


def test_versions_of_any_answer_but_not_while_one_is_written(make_view: MakeView) -> None:
    first, second = versions(2)
    later = [question("Q2", "q2"), answer("A2", "a2")]
    view = make_view([question("Q"), second, *later])
    assert len(step_buttons(view)) == 2
    assert make_view([question("Q"), answer("only", "o")]).findChildren(QAbstractButton, "versionBackButton") == []
    running = make_view([question("Q"), first, question("Q2", "q2"), answer("", "a2", status=Status.STREAMING)])
    assert step_buttons(running) == []
    assert step_buttons(make_view([answer("", "v2", status=Status.STREAMING, version=2, versions=2)])) == []


def test_the_number_stands_between_the_arrows(make_view: MakeView, theme: Theme) -> None:
    view = make_view([question("Q"), versions(12)[10]])
    for scale in (1.0, 1.6):
        theme.set_scale(scale)
        view.refresh()
        back, on = step_buttons(view)
        room = view.content.look.small_metrics.horizontalAdvance("11/12")
        assert on.geometry().left() - back.geometry().right() >= room
        (copy,) = buttons(view, "copyMessageButton")
        assert copy.geometry().left() > on.geometry().right()
        assert back.geometry().bottom() <= view.viewport().height()


def test_another_version_does_not_jump_to_the_end(make_view: MakeView) -> None:
    first, second = versions(2)
    ending = [question("Q", "e"), answer("A", "f")]
    more = [row for n in range(20) for row in (question(f"Q{n}", f"q{n}"), answer(PARAGRAPH, f"a{n}"))]
    model = model_of([question("Q"), second, *ending])
    view = make_view(model, height=600)
    assert view.content.follow
    view.version_requested.connect(lambda message, step: model.show([question("Q"), first, *more]))
    QTest.mouseClick(step_buttons(view)[0], Qt.MouseButton.LeftButton)
    view.refresh()
    assert (view.content.follow, view.content.placed[0].row) == (False, 0)


def test_targets_are_large_enough(make_view: MakeView) -> None:
    view = make_view([question("Q"), answer(CODE, version=2, versions=3)])
    names = ("copyCodeButton", "wrapCodeButton", "copyMessageButton", "regenerateButton")
    shown = [button for name in names for button in buttons(view, name)]
    assert len(shown) == 4
    steps = step_buttons(view)
    assert all(button.height() >= 40 and button.width() >= 40 and not button.icon().isNull() for button in steps)
    for button in shown:
        assert button.height() >= 40
        assert button.width() >= 40
        assert not button.icon().isNull()
        assert button.text()
        assert button.accessibleName()
    boxes = [button.geometry() for button in shown + steps]
    assert not any(a.intersects(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_code_is_copied_by_keyboard(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([answer("```\none\n```\n\n```\ntwo\n```")])
    view.activateWindow()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    reached: list[str] = []
    for _ in range(4):
        QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert isinstance(focused, QWidget)
        if focused.objectName() == "copyCodeButton":
            QTest.keyClick(focused, Qt.Key.Key_Space)
            reached.append(clipboard())
    assert reached == ["one", "two"]


def test_code_is_saved_under_a_fitting_name(make_view: MakeView) -> None:
    view = make_view([answer("```python\none\n```\n\n```nonsense\ntwo\n```\n\n```c++\nthree\n```")])
    wanted: list[tuple[str, str]] = []
    view.save_requested.connect(lambda name, code: wanted.append((name, code)))
    for button in buttons(view, "saveCodeButton"):
        button.click()
    assert wanted == [("code.py", "one"), ("code.txt", "two"), ("code.cpp", "three")]


def test_code_that_is_being_written_cannot_be_saved_yet(make_view: MakeView) -> None:
    view = make_view([answer("```python\none", status=Status.STREAMING)])
    assert buttons(view, "saveCodeButton") == []


def test_a_screen_reader_tells_the_buttons_apart(make_view: MakeView) -> None:
    view = make_view([question("```\nalone\n```"), answer("```\none\n```\n\n```\ntwo\n```")])
    names = [button.accessibleName() for button in buttons(view, "copyCodeButton")]
    assert names == ["Copy code", "Copy code 1", "Copy code 2"]


def test_a_copy_button_says_that_it_copied(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([answer(CODE)])
    (button,) = buttons(view, "copyCodeButton")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.text() == "Copied"
    assert button.width() >= button.sizeHint().width()
    button.rest()  # type: ignore[attr-defined]
    assert button.text() == "Copy"


def test_buttons_follow_the_text_size(make_view: MakeView, theme: Theme) -> None:
    view = make_view([answer(CODE)])
    theme.set_scale(1.6)
    frame = view.content.message(0).view(2)
    for name in ("copyCodeButton", "wrapCodeButton", "copyMessageButton", "regenerateButton"):
        (button,) = buttons(view, name)
        assert button.width() >= button.sizeHint().width()
        assert button.height() == button.sizeHint().height() >= 60
        assert button.geometry().right() <= view.scene.column_x + frame.width


def test_long_lines_wrap_on_demand(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([answer(CODE)])
    code = view.content.message(0).view(2)
    assert isinstance(code, CodeView)
    before, overflow = code.height, code.overflow()
    (button,) = buttons(view, "wrapCodeButton")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    code = view.content.message(0).view(2)
    assert isinstance(code, CodeView)
    assert overflow > 0
    assert code.overflow() == 0
    assert code.height > before
    assert button.isChecked()
    view.resize(880, 640)
    view.refresh()
    again = view.content.message(0).view(2)
    assert isinstance(again, CodeView)
    assert again.state.wrap


def test_the_copy_button_stays_in_sight_of_long_code(make_view: MakeView) -> None:
    view = make_view([answer("```\n" + "line\n" * 200 + "```")])
    view.scroll_by(-900)
    (button,) = buttons(view, "copyCodeButton")
    assert button.y() == 0


def test_buttons_are_used_again(make_view: MakeView) -> None:
    view = make_view([answer("```\nx\n```\n\n" * 60)])
    view.scroll_to_start()
    made = len(view.viewport().findChildren(QWidget, "copyCodeButton"))
    for _ in range(60):
        view.scroll_by(150)
    assert len(view.viewport().findChildren(QWidget, "copyCodeButton")) <= made + 2 < 30


def test_walking_through_messages(make_view: MakeView) -> None:
    view = make_view([*dialogue(6), answer(PARAGRAPH * 20, "long"), question("End?", "end")])
    view.scroll_to_start()
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view._keys.ring is not None
    view._keys.ring = 0
    rings = [0]
    for _ in range(60):
        QTest.keyClick(view, Qt.Key.Key_Down)
        ring = view._keys.ring
        assert ring is not None
        assert not view.visible_rect(ring).isEmpty()
        rings.append(ring)
    assert rings == sorted(rings)
    assert set(rings) == set(range(8))
    for _ in range(60):
        QTest.keyClick(view, Qt.Key.Key_Up)
    assert view._keys.ring == 0
    assert view.verticalScrollBar().value() <= view.content.look.px(40)


def test_keys_that_are_of_no_use_here_go_to_the_parent(make_view: MakeView, qtbot: QtBot) -> None:
    class Parent(QWidget):
        keys: list[int] = []  # noqa: RUF012

        def keyPressEvent(self, event) -> None:
            self.keys.append(event.key())

    parent = Parent()
    qtbot.addWidget(parent)
    view = make_view([answer("x")])
    view.setParent(parent)
    parent.show()
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_A, Qt.Key.Key_PageUp):
        QTest.keyClick(view, key)
    assert Parent.keys == [Qt.Key.Key_Escape, Qt.Key.Key_A]
    view.setParent(None)


@pytest.mark.parametrize("mode", [ThemeMode.DARK, ThemeMode.LIGHT])
def test_another_theme_repaints_all(make_view: MakeView, theme: Theme, mode: ThemeMode) -> None:
    view = make_view([question("Q"), answer(CODE)])
    theme.set_mode(mode)
    picture = view.viewport().grab().toImage()
    assert picture.pixelColor(2, 2).name().upper() == theme.tokens.background


def test_rows_come_go_and_change(make_view: MakeView) -> None:
    rows = dialogue(12)
    model = model_of(rows)
    view = make_view(model)

    def check() -> None:
        view.refresh()
        assert [row.id for row in view.content.rows] == [row.id for row in model.rows]
        assert len(view.content.messages.heights) == len(model.rows)
        view.grab()

    model.show(rows[:5])
    check()
    model.show([*rows[:3], answer("other branch", "b")])
    check()
    model.update(answer("changed\n\nmore", "b", status=Status.STOPPED))
    check()
    assert words(view.content.message(3).parts) == ["changed", "more"]
    model.reset(rows[:1])
    view.grab()
    check()
    model.reset([])
    check()
    assert view.content.placed == []


def test_a_paint_between_change_and_refresh_shows_the_new_rows(make_view: MakeView) -> None:
    model = model_of(dialogue(30))
    view = make_view(model)
    model.reset([answer("only one", "x")])
    view.grab()
    assert {placed.row for placed in view.content.placed} == {0}


def test_only_the_last_block_is_laid_out_again(make_view: MakeView) -> None:
    text = "# Head\n\nFirst paragraph.\n\n```py\nx = 1\n```\n\nLast para"
    model = model_of([answer(text, status=Status.STREAMING, stats=None)])
    view = make_view(model)
    before = dict(view.content.message(0).views)
    model.update(answer(text + "graph grows", status=Status.STREAMING, stats=None))
    view.refresh()
    after = view.content.message(0).views
    assert [after[index] is before[index] for index in range(4)] == [True, True, True, False]


def test_code_that_grows_keeps_its_view(make_view: MakeView) -> None:
    model = model_of([answer("```py\nx = 1\n", status=Status.STREAMING, stats=None)])
    view = make_view(model)
    before = view.content.message(0).view(1)
    model.update(answer("```py\nx = 1\ny = 2\n```\n", status=Status.STREAMING, stats=None))
    view.refresh()
    assert view.content.message(0).view(1) is before
    assert before.length == len("x = 1\ny = 2")


def test_what_is_streamed_ends_as_what_is_reopened(make_view: MakeView) -> None:
    text = CODE + "\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\nend **bold"
    model = model_of([answer("", status=Status.STREAMING, stats=None)])
    view = make_view(model)
    for end in range(1, len(text), 9):
        model.update(answer(text[:end], status=Status.STREAMING, stats=None))
        view.refresh()
    model.update(answer(text))
    view.refresh()
    fresh = make_view([answer(text)])
    assert view.content.message(0).parts == fresh.content.message(0).parts == parts_of(text)
    assert heights(view) == heights(fresh)


def test_memory_goes_by_what_is_seen(make_view: MakeView) -> None:
    view = make_view(dialogue(400))
    view.scroll_to_start()
    for _ in range(120):
        view.scroll_by(500)
    assert view.content.messages.laid_out <= KEPT_VIEWS + 100
    assert sum(view.content.messages.known(number) is not None for number in range(400)) <= KEPT_MESSAGES + 20


def test_a_screen_reader_finds_author_and_text(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([question("What is GTT?"), answer("System **memory**.")])
    before = QAccessible.isActive()
    QAccessible.setActive(True)
    try:
        view.refresh()
        labels = view.viewport().findChildren(MessageLabel)
        texts = [QAccessible.queryAccessibleInterface(label).text(QAccessible.Text.Name) for label in labels]
        assert sorted(texts) == ["Model\nSystem **memory**.\n312 tokens · 41.2 tok/s", "You\nWhat is GTT?"]
        assert all(label.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents) for label in labels)
    finally:
        QAccessible.setActive(before)
    view.refresh()
    qtbot.waitUntil(lambda: not view.viewport().findChildren(MessageLabel))


def test_keys_in_an_empty_view_do_nothing(make_view: MakeView) -> None:
    view = make_view([])
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_PageUp):
        QTest.keyClick(view, key)


def test_right_to_left_stands_at_the_right(make_view: MakeView) -> None:
    view = make_view([answer("שלום עולם\n\nhello world")])
    right, left = view.content.message(0).view(1), view.content.message(0).view(2)
    assert right.caret(0).left() > 0.9 * view.content.column
    assert left.caret(0).left() == 0
