"""Thoughts above answers: folded and unfolded, growing, copied, heard."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel
from engine.chat.records import Status
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import PARAGRAPH, answer, buttons, clipboard, dialogue, model_of, question, words
from ui.chat.transcript.blocks import Code, Paragraph, Part, ThoughtHead, in_thought
from ui.chat.transcript.budget import never
from ui.chat.transcript.reading import RowReader
from ui.chat.transcript.selection import message_text, source_text
from ui.chat.transcript.view import TranscriptView

THOUGHT = "First *this*.\n\n- one\n- two\n\n```py\nx = 1\n```\n\nThen that."


def thinker(text: str = "Because.", thinking: str = THOUGHT, name: str = "a", **fields: object) -> MessageRow:
    return answer(text, name, thinking=thinking, **({"thought_s": 3.14} | fields))


def shown(view: TranscriptView, row: int = 0) -> list[str]:
    return [text for text in words(view.content.message(row).parts) if text]


def read(row: MessageRow, folds: dict[str, bool] | None = None) -> list[Part]:
    reader = RowReader(row, folds if folds is not None else {})
    reader.advance(never)
    return reader.parts


def test_a_finished_thought_is_folded_with_its_time(make_view: MakeView) -> None:
    view = make_view([thinker()])
    assert shown(view) == ["Because."]
    (button,) = buttons(view, "thoughtButton")
    assert button.text() == "Thought for 3.1 s"
    assert button.accessibleName() == "Thought for 3.1 s hidden"


@pytest.mark.parametrize(
    ("row", "label"),
    [
        (thinker(thought_s=None), "Thought"),
        (thinker(thought_s=59.96), "Thought for 1 min 0 s"),
        (thinker(thought_s=125.4), "Thought for 2 min 5 s"),
        (thinker("", status=Status.STREAMING, thought_s=2.42), "Thinking… 2.4 s"),
        (thinker("", status=Status.STOPPED, thought_s=2.42), "Thought for 2.4 s"),
        (thinker("So", status=Status.STREAMING, thought_s=2.42), "Thought for 2.4 s"),
    ],
)
def test_what_the_line_says(make_view: MakeView, row: MessageRow, label: str) -> None:
    (button,) = buttons(make_view([row]), "thoughtButton")
    assert button.text() == label


def test_a_click_unfolds_and_folds(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([question("Why?"), thinker()])
    before = view.content.messages.heights[1]
    qtbot.mouseClick(buttons(view, "thoughtButton")[0], Qt.MouseButton.LeftButton)
    assert shown(view, 1) == ["First this.", "one", "two", "x = 1", "Then that.", "Because."]
    assert view.content.messages.heights[1] > before
    (button,) = buttons(view, "thoughtButton")
    assert button.accessibleName() == "Thought for 3.1 s shown"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown(view, 1) == ["Because."]
    assert view.content.messages.heights[1] == before


def test_the_keyboard_reaches_it(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([thinker()])
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    (button,) = buttons(view, "thoughtButton")
    assert button.hasFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert "Then that." in shown(view)
    assert buttons(view, "thoughtButton")[0].hasFocus()


def test_unfolding_keeps_what_stands_above(make_view: MakeView, qtbot: QtBot) -> None:
    rows = [*dialogue(6), thinker(PARAGRAPH * 4, PARAGRAPH * 10)]
    view = make_view(rows)
    (button,) = buttons(view, "thoughtButton")
    place = button.y()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert buttons(view, "thoughtButton")[0].y() == place


def test_an_unfinished_thought_is_open(make_view: MakeView) -> None:
    view = make_view([thinker("", status=Status.FAILED, error="The limit was reached.")])
    assert shown(view)[-2:] == ["Then that.", "The limit was reached."]


def feed(model: TranscriptModel, view: TranscriptView, row: MessageRow) -> None:
    model.update(row)
    view.refresh()


def streaming(model: TranscriptModel, view: TranscriptView) -> None:
    for end in range(3, len(THOUGHT) + 3, 3):
        feed(model, view, thinker("", THOUGHT[:end], status=Status.STREAMING, thought_s=end / 10))


def test_it_grows_open_and_folds_with_the_answer(make_view: MakeView) -> None:
    model = model_of([question("Why?"), answer("", status=Status.STREAMING, progress="Waiting")])
    view = make_view(model)
    streaming(model, view)
    assert shown(view, 1) == ["First this.", "one", "two", "x = 1", "Then that."]
    feed(model, view, thinker("So", status=Status.STREAMING))
    assert shown(view, 1) == ["So"]
    feed(model, view, thinker("So be it."))
    assert shown(view, 1) == ["So be it."]


def test_one_that_is_read_stays_open(make_view: MakeView) -> None:
    """The reader is not at the end: nothing may move below the eyes."""
    long = "\n\n".join(PARAGRAPH for _ in range(20))
    model = model_of([question("Why?"), thinker("", long, status=Status.STREAMING)])
    view = make_view(model)
    view.scroll_by(-300)
    top = view.content.placed[0]
    feed(model, view, thinker("So", long, status=Status.STREAMING))
    assert shown(view, 1)[-1] == "So"
    assert len(shown(view, 1)) == 21
    assert view.content.placed[0] == top


@pytest.mark.parametrize("step", [1, 4, 17])
def test_streamed_is_as_whole(step: int) -> None:
    whole = read(thinker("A *b*.\n\nC"), {"a": True})
    reader = RowReader(thinker("", "", status=Status.STREAMING), folds := {"a": True})
    rows = [thinker("", THOUGHT[:end], status=Status.STREAMING) for end in range(1, len(THOUGHT) + 1, step)]
    for row in [*rows, thinker("A", status=Status.STREAMING), thinker("A *b*.\n\nC")]:
        reader.set_row(row)
        stable = reader.parts[: reader.stable] if row.text == "" else []
        reader.advance(never)
        assert reader.parts[: len(stable)] == stable
    assert reader.parts == whole == read(thinker("A *b*.\n\nC"), folds)


def test_parts_of_a_thought_are_marked() -> None:
    parts = read(thinker(), {"a": True})
    assert isinstance(parts[0], ThoughtHead)
    assert [in_thought(part) for part in parts] == [True] * 6 + [False]
    assert read(thinker()) == [ThoughtHead(), msgspec_gap(parts[-1], read(thinker())[1].gap)]


def msgspec_gap(part: Part, gap: float) -> Part:
    assert isinstance(part, Paragraph)
    return Paragraph(content=part.content, gap=gap)


def test_copies_leave_it_out_unless_it_is_shown_or_asked_for(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([thinker()])
    view.actions_of.select_all()
    assert view.selected_text() == "Because."
    qtbot.mouseClick(buttons(view, "thoughtButton")[0], Qt.MouseButton.LeftButton)
    view.actions_of.select_all()
    assert view.selected_text() == "First this.\n\n- one\n- two\n\nx = 1\n\nThen that.\n\nBecause."
    assert message_text(view.content, 0) == source_text(view.content.rows[0]) == "Because."
    menu = view.actions_of.make_menu(0, view.rect().center().toPointF())
    next(action for action in menu.actions() if action.text() == "Copy thought").trigger()
    assert clipboard() == THOUGHT
    menu.deleteLater()


def test_code_of_the_answer_stays_wrapped(make_view: MakeView, qtbot: QtBot) -> None:
    code = f"```py\n{'x = 1; ' * 60}\n```"
    view = make_view([thinker(code)])
    message = view.content.message(0)
    message.toggle_wrap(2)
    qtbot.mouseClick(buttons(view, "thoughtButton")[0], Qt.MouseButton.LeftButton)
    section = next(n for n, part in enumerate(message.parts, 1) if isinstance(part, Code) and not in_thought(part))
    assert message.state(section - 1).wrap
    assert not any(message.state(n).wrap for n in range(section - 1))


def test_the_guess_of_the_height_counts_it(make_view: MakeView) -> None:
    rows = [thinker(PARAGRAPH, name="a"), thinker("", PARAGRAPH * 6, name="b"), *dialogue(4)]
    view = make_view(rows)
    messages = view.content.messages
    for number in (0, 1):
        guess = messages._estimate(msgspec.structs.replace(rows[number], id=f"x{number}"))
        message = messages.get(number)
        for section in range(message.sections):
            messages.measure(number, section)
        assert abs(guess - messages.heights[number]) < 0.25 * messages.heights[number]


def test_messages_that_do_not_reach_the_model_are_greyed(make_view: MakeView) -> None:
    view = make_view(dialogue(4))
    before = view.viewport().grab().toImage()
    view.set_left_out(2)
    greyed = view.viewport().grab().toImage()
    assert greyed != before
    view.set_left_out(0)
    assert view.viewport().grab().toImage() == before
