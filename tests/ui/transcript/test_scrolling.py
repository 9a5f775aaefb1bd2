"""Following the end, staying where one reads, and never a jump (case 107)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QScrollEvent, QScrollPrepareEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.transcript import TranscriptModel
from engine.chat.records import Status
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import PARAGRAPH, answer, dialogue, model_of, question
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme


def text_at_top(view: TranscriptView) -> tuple[str, int, float]:
    """The character at the top of the view and how far its line is above the edge."""
    placed = view.content.placed[0]
    message = view.content.message(placed.row)
    position, rest = message.place_in(placed.section, -placed.y)
    return f"{message.row.id}/{placed.section}", position, rest


def wheel(view: TranscriptView, notches: float, *, sideways: bool = False) -> None:
    middle = QPointF(view.viewport().rect().center())
    delta = QPoint(int(notches * 120), 0) if sideways else QPoint(0, int(notches * 120))
    event = QWheelEvent(
        middle, view.viewport().mapToGlobal(middle), QPoint(), delta, Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def bar(view: TranscriptView) -> tuple[int, int]:
    return view.verticalScrollBar().value(), view.verticalScrollBar().maximum()


def end_button_shown(view: TranscriptView) -> bool:
    return not view._end_button.isHidden()


@pytest.fixture
def running() -> TranscriptModel:
    """A long conversation whose last answer is still coming."""
    return model_of([*dialogue(20), answer("Begin. ", "running", status=Status.STREAMING, stats=None)])


def grow(model: TranscriptModel, view: TranscriptView, words: str) -> None:
    last = model.rows[-1]
    model.update(answer(last.text + words, last.id, status=Status.STREAMING, stats=None))
    view.refresh()


def test_a_conversation_opens_at_its_end(make_view: MakeView) -> None:
    view = make_view(dialogue(40))
    value, maximum = bar(view)
    assert value == maximum > 0
    assert not end_button_shown(view)


def test_the_end_is_followed_while_it_grows(make_view: MakeView, running: TranscriptModel) -> None:
    view = make_view(running)
    for _ in range(12):
        grow(running, view, PARAGRAPH + "\n\n")
        value, maximum = bar(view)
        assert value == maximum


@pytest.mark.parametrize("way", ["wheel", "page", "drag", "touch"])
def test_case_107_who_scrolls_up_stays_there(make_view: MakeView, running: TranscriptModel, way: str) -> None:
    view = make_view(running)
    grow(running, view, PARAGRAPH * 4)
    if way == "wheel":
        wheel(view, 1)
    elif way == "page":
        QTest.keyClick(view, Qt.Key.Key_PageUp)
    elif way == "drag":
        view.verticalScrollBar().setValue(bar(view)[0] - 300)
    else:
        view.scroll_by(-120.0)
    place = text_at_top(view)
    assert end_button_shown(view)
    for _ in range(10):
        grow(running, view, PARAGRAPH + "\n\n```py\nx = 1\n```\n")
        assert text_at_top(view) == place
    QTest.keyClick(view, Qt.Key.Key_End)
    assert bar(view)[0] == bar(view)[1]
    assert not end_button_shown(view)
    grow(running, view, PARAGRAPH * 3)
    assert bar(view)[0] == bar(view)[1]


def test_touch_moves_by_the_finger_s_way(make_view: MakeView, running: TranscriptModel) -> None:
    """Qt's scroller speaks in places; what changed above meanwhile must not be taken for the finger's way."""
    view = make_view(running)
    prepare = QScrollPrepareEvent(QPointF(100, 100))
    QApplication.sendEvent(view.viewport(), prepare)
    assert prepare.isAccepted()
    start = prepare.contentPos().y()
    assert (start, prepare.contentPosRange().bottom()) == pytest.approx(bar(view), abs=1)
    before = {(p.row, p.section): p.y for p in view.content.placed}
    for distance in (40, 90):
        state = QScrollEvent.ScrollState.ScrollUpdated
        QApplication.sendEvent(view.viewport(), QScrollEvent(QPointF(0, start - distance), QPointF(), state))
    after = {(p.row, p.section): p.y for p in view.content.placed}
    moved = [after[one] - before[one] for one in before.keys() & after.keys()]
    assert moved
    assert moved == pytest.approx([90.0] * len(moved))


def test_case_107_following_survives_a_resize(make_view: MakeView, running: TranscriptModel) -> None:
    view = make_view(running)
    view.resize(640, 480)
    view.refresh()
    assert bar(view)[0] == bar(view)[1]
    grow(running, view, PARAGRAPH * 3)
    assert bar(view)[0] == bar(view)[1]


def test_the_button_brings_the_end_back(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(dialogue(30))
    view.scroll_to_start()
    assert bar(view)[0] == 0
    button = view._end_button
    assert button.objectName() == "toEndButton"
    assert min(button.width(), button.height()) >= 40
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bar(view)[0] == bar(view)[1]


def test_scrolling_back_and_forth_is_exact(make_view: MakeView) -> None:
    """Estimates are corrected on the way; the text under the pointer moves by the distance asked for, no more."""
    view = make_view(dialogue(200))
    view.verticalScrollBar().setValue(bar(view)[1] // 2)
    for step in (-37, -200, -555, 41, 300, -90, 541):
        before = {(p.row, p.section): p.y for p in view.content.placed}
        view.scroll_by(step)
        after = {(p.row, p.section): p.y for p in view.content.placed}
        for section in before.keys() & after.keys():
            assert after[section] == pytest.approx(before[section] - step, abs=0.51)
        assert before.keys() & after.keys() or abs(step) >= 500


def test_the_bar_always_tells_the_truth(make_view: MakeView) -> None:
    view = make_view(dialogue(60))
    view.scroll_to_start()
    for _ in range(500):
        value, maximum = bar(view)
        assert 0 <= value <= maximum
        if value == maximum:
            break
        view.scroll_by(200)
    assert bar(view)[0] == bar(view)[1] == round(view.content.total - view.viewport().height())


@pytest.mark.parametrize("width", [560, 700, 1024, 1200])
def test_another_width_keeps_the_text_at_the_top(make_view: MakeView, width: int) -> None:
    view = make_view(dialogue(40))
    view.verticalScrollBar().setValue(1500)
    name, position, _ = text_at_top(view)
    view.resize(width, 600)
    view.refresh()
    after = text_at_top(view)
    assert after[0] == name
    assert abs(after[1] - position) <= 120, "not more than a line of characters away"
    assert view.content.column <= 820, "at scale 1"
    for placed in view.content.placed:
        message = view.content.message(placed.row)
        if message.part(placed.section) is not None:
            assert message.x + message.width <= view.content.column + 1


@pytest.mark.parametrize("scale", [0.8, 1.4, 2.0])
def test_another_text_size_keeps_the_text_at_the_top(make_view: MakeView, theme: Theme, scale: float) -> None:
    view = make_view(dialogue(40))
    view.verticalScrollBar().setValue(1500)
    name, _, _ = text_at_top(view)
    theme.set_scale(scale)
    assert text_at_top(view)[0] == name


def test_a_question_of_one_s_own_brings_the_end_into_view(make_view: MakeView) -> None:
    model = model_of(dialogue(30))
    view = make_view(model)
    view.scroll_to_start()
    begun = answer("", "begun", status=Status.STREAMING, stats=None)
    model.show([*model.rows, question("New question", "new"), begun])
    view.refresh()
    assert bar(view)[0] == bar(view)[1]


def test_an_answer_that_comes_meanwhile_does_not(make_view: MakeView) -> None:
    model = model_of(dialogue(30))
    view = make_view(model)
    view.scroll_to_start()
    model.show([*model.rows, answer("New answer", "new")])
    view.refresh()
    assert bar(view)[0] == 0


def test_a_short_conversation_stands_at_the_top(make_view: MakeView) -> None:
    view = make_view([question("Hi")])
    assert bar(view) == (0, 0)
    assert view.content.placed[0].y == view.content.padding


def test_a_wide_block_scrolls_sideways_alone(make_view: MakeView) -> None:
    view = make_view([answer("```\n" + "x" * 300 + "\n" * 30 + "```\n")])
    code = view.content.message(0).view(1)
    column = view.content.column
    wheel(view, -2, sideways=True)
    assert code.state.scroll > 0  # type: ignore[attr-defined]
    assert view.content.column == column
    assert view.horizontalScrollBar().maximum() == 0
