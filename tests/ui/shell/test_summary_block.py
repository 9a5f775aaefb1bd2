"""What stands for the messages that the model does not get any more, in the transcript."""

from __future__ import annotations

import random

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.chat.rows import MessageRow
from app.chat.settings import ContextPolicy
from app.chat.summary_care import Making
from app.chat.transcript import TranscriptModel
from engine.chat.records import Role, Status
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import message_row, model_info
from ui.chat.composer import Composer
from ui.chat.summary_rows import SummaryRows
from ui.chat.transcript.commands import Command, applies
from ui.chat.transcript.view import TranscriptView

LONG = "word " * 300


def view_of(window: Window) -> TranscriptView:
    view = window.find("transcript")
    assert isinstance(view, TranscriptView)
    return view


def show(window: Window, **fields: object) -> None:
    """A full context; the fifth message has these fields."""
    window.chat.parameters.change(overflow=ContextPolicy.SUMMARISE)
    window.chat.show(LONG, LONG, LONG, LONG, "last", "Well.")
    rows = list(window.chat.transcript.rows)
    rows[4] = msgspec.structs.replace(rows[4], **fields)
    window.chat.transcript.show(rows)
    window.chat.current_changed.emit(window.chat.current)
    view_of(window).scroll_to_end()


@pytest.fixture
def window(make_window: MakeWindow) -> Window:
    made = make_window("Alpha")
    made.converse()
    made.worker.set_model(model_info(n_ctx=1024))
    return made


def block(window: Window) -> MessageRow:
    (row,) = (row for row in view_of(window).content.rows if row.stands_for)
    return row


def summaries(window: Window) -> list[tuple[str, ...]]:
    return [call for call in window.chat.calls if call[0].endswith("summary")]


def test_it_stands_before_the_first_message_that_the_model_gets(window: Window) -> None:
    show(window, summary="They spoke of words.")
    rows = view_of(window).content.rows
    assert [row.stands_for for row in rows] == [0, 0, 0, 0, 4, 0, 0]
    assert (block(window).author, block(window).text) == ("Summary of 4 earlier messages", "They spoke of words.")
    assert view_of(window).scene.left_out == 4


def test_edit(window: Window) -> None:
    show(window, summary="They spoke of words.")
    window.button("editSummaryButton").click()
    composer = window.window.findChild(Composer)
    assert isinstance(composer, Composer)
    assert composer.text() == "They spoke of words."
    composer.submit()
    assert summaries(window) == [("edit summary", window.chat.transcript.rows[4].id, "They spoke of words.")]
    assert (composer.edited, composer.text()) == (None, "")


def test_make_again_and_remove(window: Window) -> None:
    show(window, summary="They spoke of words.")
    message = window.chat.transcript.rows[4].id
    window.button("remakeSummaryButton").click()
    window.button("removeSummaryButton").click()
    assert summaries(window) == [("remake summary", message), ("remove summary", message)]


def test_while_it_is_made_its_progress_is_seen_and_it_can_be_stopped(window: Window) -> None:
    show(window, summary="They spoke of words.")
    message = window.chat.transcript.rows[4].id
    window.chat.summaries.make(Making("0", message, "Summarising: 25 % read"))
    view_of(window).refresh()
    assert (block(window).progress, block(window).status) == ("Summarising: 25 % read", Status.STREAMING)
    assert not window.button("removeSummaryButton").isVisible()
    window.button("stopSummaryButton").click()
    assert summaries(window) == [("stop summary",)]
    window.chat.summaries.make(None)
    view_of(window).refresh()
    assert block(window).text == "They spoke of words."


def test_without_a_summary_it_says_what_is_left_out(window: Window) -> None:
    show(window, cut=True)
    assert (block(window).author, block(window).text) == ("4 earlier messages left out", "")
    view_of(window).refresh()
    window.button("writeSummaryButton").click()
    composer = window.window.findChild(Composer)
    assert isinstance(composer, Composer)
    assert (composer.edited is not None, composer.text()) == (True, "")
    window.button("makeSummaryButton").click()
    assert summaries(window) == [("remake summary", window.chat.transcript.rows[4].id)]
    rows = view_of(window).content.rows
    assert not applies(Command.SUMMARY_REMOVE, rows, block(window))


def test_nothing_of_a_message_can_be_done_with_it(window: Window) -> None:
    show(window, summary="They spoke of words.")
    rows = view_of(window).content.rows
    usual = (Command.EDIT, Command.CONTINUE, Command.REGENERATE, Command.BRANCH, Command.DELETE)
    assert not any(applies(command, rows, block(window)) for command in usual)
    assert not applies(Command.SUMMARY_EDIT, rows, rows[0])
    menu = view_of(window).actions_of.make_menu(4, view_of(window).rect().topLeft().toPointF())
    texts = [action.text() for action in menu.actions() if action.text()]
    assert "Remove this summary" in texts
    assert not {"Details…", "Delete from here", "New conversation from here"} & set(texts)


def test_while_an_answer_is_written_it_is_only_read(window: Window) -> None:
    show(window, summary="They spoke of words.")
    rows = [*view_of(window).content.rows]
    rows[-1] = msgspec.structs.replace(rows[-1], status=Status.STREAMING)
    assert not any(applies(command, rows, rows[4]) for command in Command)


def test_it_goes_when_all_fits_or_another_way_is_chosen(window: Window) -> None:
    show(window, summary="They spoke of words.")
    window.chat.parameters.change(overflow=ContextPolicy.SHIFT)
    assert not any(row.stands_for for row in view_of(window).content.rows)
    window.chat.parameters.change(overflow=ContextPolicy.SUMMARISE)
    assert block(window).stands_for == 4
    window.worker.set_model(model_info(n_ctx=32768))
    window.chat.current_changed.emit(window.chat.current)
    assert not any(row.stands_for for row in view_of(window).content.rows)


def test_it_is_copied_with_the_rest(window: Window) -> None:
    show(window, summary="They spoke of words.")
    view_of(window).actions_of.select_all()
    assert "They spoke of words." in view_of(window).selected_text()


@pytest.mark.parametrize("seed", range(20))
def test_the_rows_are_those_of_the_source_with_one_more(seed: int, qtbot: QtBot) -> None:
    chance = random.Random(seed)
    source = TranscriptModel()
    rows = SummaryRows(source)
    tester = QAbstractItemModelTester(rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    mark = MessageRow(id="mark", role=Role.OTHER, text="s", status=Status.DONE, author="Summary", stands_for=1)
    kept: list[MessageRow] = []
    reported: list[str] = []
    for step in range(60):
        there = [message_row(number, f"{number}") for number in range(chance.randrange(8))]
        doing = chance.choice(("show", "reset", "prepend", "mark", "unmark", "update"))
        if doing == "show":
            source.show(there)
        elif doing == "reset":
            source.reset(there)
        elif doing == "prepend":
            source.prepend([msgspec.structs.replace(row, id=f"{step}-{row.id}") for row in there])
        elif doing == "update" and source.rows:
            source.update(msgspec.structs.replace(chance.choice(source.rows), text=f"step {step}"))
        else:
            rows.show(mark if doing == "mark" else None, chance.randrange(source.rowCount() + 1))
        kept = [rows.index(number, 0).data(Qt.ItemDataRole.UserRole) for number in range(rows.rowCount())]
        assert tuple(row for row in kept if row is not mark) == source.rows
        reported.append(doing)
    assert set(reported) >= {"show", "mark"}
    del tester
