"""The controller when something is in the way: another answer, no model, a crash, a full disk, deletion, the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.chat import chat_notices
from app.chat.model_choice import DOES_NOT_FIT
from app.chat.outcome import CONTEXT_FULL, NEW_CHAT, NO_TEXT
from engine.chat.records import Status
from engine.chat.store import Store
from engine.client.session import WorkerState
from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.frames import Failed, Loaded, Progress
from engine.protocol.types import FinishReason
from tests.app.chat.conftest import CHOICE, NO_MODEL, Chat
from tests.app.chat.scripted_engine import model_info


def ask(chat: Chat, text: str) -> None:
    assert chat.controller.send(text)
    chat.database.drain()


# Another conversation


def test_an_answer_stays_in_its_own_conversation(chat: Chat) -> None:
    two = chat.say("two", "second")
    chat.controller.new_conversation()
    ask(chat, "one")
    one = chat.current
    chat.engine.asked.say("in ")
    chat.controller.open(two)
    chat.database.drain()
    assert chat.busies[-1:] == [False]
    chat.engine.asked.say("its own ")
    assert chat.shown == ["two", "second"]
    chat.controller.open(one)
    chat.database.drain()
    assert chat.busies[-1:] == [True]
    assert chat.shown == ["one", "in its own "]
    assert [row.status for row in chat.rows] == [Status.DONE, Status.STREAMING]
    chat.controller.open(two)
    chat.database.drain()
    chat.engine.asked.say("place")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["two", "second"]
    chat.controller.open(one)
    chat.database.drain()
    assert chat.shown == ["one", "in its own place"]
    assert chat.rows[1].status is Status.DONE
    assert [text for _, _, text in chat.on_disk()] == ["two", "second", "one", "in its own place"]


def test_an_answer_that_ends_while_its_conversation_is_being_read(chat: Chat) -> None:
    two = chat.say("two", "second")
    chat.controller.new_conversation()
    ask(chat, "one")
    one = chat.current
    chat.controller.open(two)
    chat.database.drain()
    chat.engine.asked.say("early ")
    chat.database.drain()
    chat.controller.open(one)
    chat.database.step()
    chat.engine.asked.say("late")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["one", "early late"]
    assert chat.rows[1].status is Status.DONE


def test_another_model_for_one_answer_has_to_wait_for_those_elsewhere(chat: Chat) -> None:
    """Its load would end them."""
    chat.controller.steering._choice_of = lambda _path: CHOICE
    two = chat.say("two", "second")
    chat.controller.new_conversation()
    ask(chat, "one")
    chat.controller.open(two)
    chat.database.drain()
    chat.controller.regenerate("", CHOICE.path)
    assert chat.keys() == [chat_notices.BUSY]
    assert (chat.engine.log.loaded, len(chat.engine.log.generated)) == ([], 2)
    chat.posted[0].actions[0].run()
    assert chat.engine.log.cancelled == [chat.engine.asked.id]
    chat.engine.asked.finish(FinishReason.CANCELLED)
    assert chat.withdrawn[-1] == chat_notices.BUSY
    chat.controller.regenerate("", CHOICE.path)
    chat.database.drain()
    assert [load.path for load in chat.engine.log.loaded] == [CHOICE.path]


def test_stop_is_for_the_open_conversation(chat: Chat) -> None:
    two = chat.say("two", "second")
    chat.controller.new_conversation()
    ask(chat, "one")
    chat.controller.open(two)
    chat.controller.stop()
    assert chat.engine.log.cancelled == []


def test_going_away_before_the_question_is_saved(chat: Chat) -> None:
    two = chat.say("two", "second")
    chat.controller.new_conversation()
    chat.controller.send("one")
    chat.controller.open(two)
    chat.database.drain()
    assert chat.shown == ["two", "second"]
    assert chat.titles == ["one", "two"]
    chat.engine.asked.say("here")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["two", "second"]


# Models


def unloaded(chat: Chat) -> None:
    chat.engine.model = None
    chat.engine.state = WorkerState.IDLE


def test_without_any_model_the_text_stays(chat: Chat) -> None:
    unloaded(chat)
    chat.choice = NO_MODEL
    wanted: list[None] = []
    chat.controller.model_wanted.connect(lambda: wanted.append(None))
    assert not chat.controller.send("Hello")
    assert (chat.restored, chat.keys(), chat.rows) == ([], [chat_notices.NO_MODEL], ())
    assert chat.engine.log.generated == []
    chat.posted[0].actions[0].run()
    assert wanted == [None]
    chat.engine.set_model(model_info())
    assert chat.controller.send("Hello")
    assert chat.withdrawn == [chat_notices.NO_MODEL]


def test_the_chosen_model_is_loaded_first(chat: Chat) -> None:
    unloaded(chat)
    ask(chat, "Hello")
    chat.engine.asked.fail("no-model")
    (load,) = chat.engine.log.loaded
    assert (load.path, load.options) == (CHOICE.path, CHOICE.options)
    assert len(chat.engine.log.generated) == 2
    asked = chat.engine.asked
    assert [m.content for m in asked.messages] == ["Hello"]
    asked.on_progress(Progress(id=asked.id, stage="load", done=1, total=2))
    assert chat.rows[1].progress == "Loading the model: 50 %"
    chat.engine.set_model(model_info("Chosen"))
    load.done(Loaded(id=load.id, model=model_info("Chosen"), seconds=1.0))
    asked.say("Hi")
    asked.finish()
    chat.database.drain()
    assert (chat.rows[1].author, chat.rows[1].text) == ("Chosen", "Hi")


def test_the_model_that_is_being_loaded_is_the_author_until_one_answers(chat: Chat, qtbot: QtBot) -> None:
    unloaded(chat)
    chat.controller.expect_model("Coming")
    ask(chat, "Hello")
    assert chat.rows[1].author == "Coming"
    chat.controller.expect_model("")
    assert chat.rows[1].author == "Coming"
    chat.controller.expect_model("Another")
    qtbot.waitUntil(lambda: chat.rows[1].author == "Another")
    chat.engine.set_model(model_info("Chosen"))
    chat.controller.expect_model("Yet another")
    chat.engine.asked.say("Hi")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.rows[1].author == "Chosen"


def test_a_load_that_fails_is_the_answers_error(chat: Chat) -> None:
    """Case 104: the file is gone; the conversation stays and another model goes on."""
    unloaded(chat)
    ask(chat, "Hello")
    chat.engine.asked.fail("no-model")
    load = chat.engine.log.loaded[0]
    load.done(Failed(id=load.id, code="not-found", message="The file is gone.", next_step="Choose another model."))
    chat.engine.asked.fail("no-model")
    chat.database.drain()
    assert len(chat.engine.log.loaded) == 1
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.FAILED, "The file is gone. Choose another model.")
    chat.engine.set_model(model_info("Other"))
    ask(chat, "Again")
    assert [m.content for m in chat.engine.asked.messages] == ["Hello\n\nAgain"]
    chat.engine.asked.say("Here I am")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["Hello", "", "Again", "Here I am"]
    assert chat.rows[3].author == "Other"


def test_a_model_that_is_being_loaded_is_waited_for(chat: Chat) -> None:
    """Case 115: send while the model loads."""
    unloaded(chat)
    chat.choice = NO_MODEL
    chat.engine.set_state(WorkerState.LOADING)
    ask(chat, "Hello")
    assert chat.engine.log.loaded == []
    chat.engine.set_model(model_info())
    chat.engine.asked.say("Hi")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["Hello", "Hi"]


def test_another_model_does_not_answer_unasked(chat: Chat) -> None:
    unloaded(chat)
    chat.engine.set_state(WorkerState.STARTING)
    ask(chat, "Hello")
    chat.engine.set_state(WorkerState.LOADING)
    chat.engine.set_state(WorkerState.IDLE)
    chat.engine.asked.fail("no-model", "No model is loaded.", "Choose a model first.")
    assert chat.engine.log.loaded == []
    assert chat.rows[1].error == "No model is loaded. Choose a model first."


def test_stop_during_a_load_stops_the_load_too(chat: Chat) -> None:
    unloaded(chat)
    ask(chat, "Hello")
    chat.engine.asked.fail("no-model")
    chat.controller.stop()
    load = chat.engine.log.loaded[0]
    assert set(chat.engine.log.cancelled) == {chat.engine.asked.id, load.id}
    load.done(Failed(id=load.id, code="cancelled", message="Cancelled."))
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.STOPPED, None)


def test_each_answer_remembers_its_model(chat: Chat) -> None:
    """Case 104."""
    one = chat.say("one", "first")
    chat.engine.set_model(model_info("Other"))
    chat.say("two", "second")
    chat.controller.new_conversation()
    chat.controller.open(one)
    chat.database.drain()
    assert [row.author for row in chat.rows] == ["You", "Tiny", "You", "Other"]


# Failures of the engine


@pytest.mark.parametrize("text", ["half an ans", ""])
def test_a_crash_keeps_the_text_and_the_next_message_goes_on(chat: Chat, text: str) -> None:
    ask(chat, "Hello")
    if text:
        chat.engine.asked.say(text)
    chat.engine.set_state(WorkerState.CRASHED)
    chat.engine.asked.fail("worker-died", "The engine stopped unexpectedly.", "The next message starts it again.")
    chat.database.drain()
    error = "The engine stopped unexpectedly. The next message starts it again."
    assert (chat.rows[1].text, chat.rows[1].status, chat.rows[1].error) == (text, Status.FAILED, error)
    assert chat.on_disk()[1] == ("assistant", "failed", text)
    ask(chat, "Go on")
    expected = ["Hello", text, "Go on"] if text else ["Hello\n\nGo on"]
    assert [m.content for m in chat.engine.asked.messages] == expected
    chat.engine.asked.finish()


def test_context_too_small_is_the_messages_error(chat: Chat) -> None:
    ask(chat, "A very long question")
    chat.engine.model = msgspec.structs.replace(model_info(n_ctx=1024), n_ctx_train=8192)
    chat.engine.asked.fail("context-exceeded", "The conversation is longer than the context.", "Load it otherwise.")
    chat.database.drain()
    assert chat.shown == ["A very long question", ""]
    assert chat.rows[1].error == (
        "The conversation is longer than the context. Start a new chat, or choose a longer context under Change load"
        " options in the list of models (now 1024; this model was made for up to 8192)."
    )
    assert chat.restored == []


def test_a_context_that_cannot_be_longer(chat: Chat) -> None:
    ask(chat, "A very long question")
    chat.engine.asked.fail("context-exceeded", "The conversation is longer than the context.", "Load it otherwise.")
    assert chat.rows[1].error == f"The conversation is longer than the context. {NEW_CHAT}"


@pytest.mark.parametrize(
    ("reason", "text", "status", "error"),
    [
        (FinishReason.STOP, "x", Status.DONE, None),
        (FinishReason.LENGTH, "x", Status.DONE, None),
        (FinishReason.CONTEXT, "x", Status.DONE, f"{CONTEXT_FULL} {NEW_CHAT}"),
        (FinishReason.ERROR, "x", Status.FAILED, "The engine reported an error in mid-answer."),
        (FinishReason.STOP, " \n", Status.FAILED, NO_TEXT),
        (FinishReason.STOP, "", Status.FAILED, NO_TEXT),
    ],
)
def test_reasons(chat: Chat, reason: FinishReason, text: str, status: Status, error: str | None) -> None:
    ask(chat, "Hello")
    if text:
        chat.engine.asked.say(text)
    chat.engine.asked.finish(reason)
    chat.database.drain()
    assert (chat.rows[1].status, chat.rows[1].error, chat.rows[1].finish) == (status, error, reason.value)
    one = chat.current
    chat.controller.new_conversation()
    chat.controller.open(one)
    chat.database.drain()
    assert (chat.rows[1].status, chat.rows[1].error, chat.rows[1].finish) == (status, error, reason.value)


def test_unloading_in_mid_answer_is_a_stop(chat: Chat) -> None:
    ask(chat, "Hello")
    chat.engine.asked.say("half")
    chat.engine.asked.fail("stopped", "The engine was stopped before it could answer.")
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.STOPPED, None)


# Deletion


def test_delete_and_undo(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.delete(one)
    assert (chat.titles, chat.shown, chat.controller.current) == ([], [], None)
    chat.database.drain()
    chat.controller.undo_delete(one)
    chat.database.drain()
    assert (chat.titles, chat.shown, chat.current) == (["one"], ["one", "first"], one)


def test_undo_of_one_that_was_not_open_leaves_the_open_one(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.new_conversation()
    two = chat.say("two", "second")
    chat.controller.delete(one)
    chat.controller.undo_delete()
    chat.controller.undo_delete()
    chat.database.drain()
    assert (chat.titles, chat.current) == (["two", "one"], two)


def test_several_come_back_and_the_first_of_them_is_open_again(chat: Chat) -> None:
    ids = []
    for name in ("one", "two", "three"):
        chat.controller.new_conversation()
        ids.append(chat.say(name, "yes"))
    for conversation, after in ((ids[2], ids[1]), (ids[1], ids[0])):
        chat.controller.delete(conversation)
        chat.controller.open(after)
    for conversation in (ids[1], ids[2]):
        chat.controller.undo_delete(conversation)
    chat.database.drain()
    assert (chat.titles, chat.current, chat.shown) == (["three", "two", "one"], ids[2], ["three", "yes"])


def test_caches_are_told_what_is_there_and_what_is_gone(chat: Chat) -> None:
    purged: list[list[str]] = []
    chat.controller.purged.connect(purged.append)
    one = chat.say("one", "first")
    assert (chat.engine.asked.conversation, chat.engine.asked.overflow) == (one, Overflow.STOP)
    chat.controller.delete(one)
    chat.database.drain()
    assert purged == []
    chat.controller._parts.deletions.timer.timeout.emit()
    chat.database.drain()
    assert purged == [[one]]


def test_deleted_for_good_after_the_undo(chat: Chat) -> None:
    one = chat.say("one secret", "first")
    chat.controller.delete(one)
    chat.database.drain()
    chat.controller._parts.deletions.timer.timeout.emit()
    chat.database.drain()
    assert chat.on_disk() == []
    chat.controller.undo_delete(one)
    chat.database.drain()
    assert chat.titles == []
    assert not any(b"secret" in file.read_bytes() for file in chat.path.parent.iterdir())


def test_deleted_for_good_when_the_program_ends(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.delete(one)
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert chat.on_disk() == []


def test_delete_while_its_answer_streams(chat: Chat) -> None:
    ask(chat, "one")
    one = chat.current
    chat.engine.asked.say("half")
    chat.controller.delete(one)
    assert chat.engine.log.cancelled == [chat.engine.asked.id]
    assert chat.busies[-1:] == [False]
    chat.engine.asked.say(" more")
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert (chat.titles, chat.shown) == ([], [])
    chat.controller.undo_delete(one)
    chat.database.drain()
    assert chat.shown == ["one", "half more"]
    assert chat.rows[1].status is Status.STOPPED


def test_undo_while_the_stopped_answer_still_ends(chat: Chat) -> None:
    ask(chat, "one")
    one = chat.current
    chat.controller.delete(one)
    chat.controller.undo_delete(one)
    chat.database.drain()
    assert chat.busies[-1:] == [True]
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert (chat.titles, chat.rows[1].status) == (["one"], Status.STOPPED)


def test_delete_a_message_conversation_purged_elsewhere_does_not_come_back(chat: Chat) -> None:
    ask(chat, "one")
    one = chat.current
    chat.controller.delete(one)
    chat.database.drain()
    chat.controller._parts.deletions.timer.timeout.emit()
    chat.database.drain()
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert (chat.titles, chat.posted, chat.on_disk()) == ([], [], [])


# The disk


class FullDisk:
    """Makes writes of the store fail while it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        for name in ("ask", "retry", "save_text", "end", "delete"):
            monkeypatch.setattr(Store, name, self._guarded(getattr(Store, name)))

    def _guarded(self, method):
        def call(*values, **named):
            if self.full:
                raise VrambleError("disk-full", "Conversations cannot be saved: the disk is full.", "Free some space.")
            return method(*values, **named)

        return call


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, chat: Chat) -> Iterator[FullDisk]:
    full = FullDisk(monkeypatch)
    yield full
    full.full = False


def test_a_question_that_cannot_be_saved_comes_back(chat: Chat, disk: FullDisk) -> None:
    """Case 73."""
    disk.full = True
    assert chat.controller.send("precious words")
    chat.database.drain()
    assert chat.restored == ["precious words"]
    assert chat.keys() == [chat_notices.UNSAVED]
    assert "disk is full" in chat.posted[0].text
    assert (chat.shown, chat.titles, chat.controller.busy) == ([], [], False)
    assert chat.engine.log.generated == []
    disk.full = False
    chat.say("precious words", "yes")
    assert chat.shown == ["precious words", "yes"]


def test_in_an_old_conversation_too(chat: Chat, disk: FullDisk) -> None:
    chat.say("one", "first")
    disk.full = True
    chat.controller.send("precious words")
    assert len(chat.shown) == 4
    chat.database.drain()
    assert (chat.shown, chat.restored) == (["one", "first"], ["precious words"])
    chat.controller.regenerate()
    chat.database.drain()
    assert (chat.shown, chat.controller.busy) == (["one", "first"], False)
    assert chat.restored == ["precious words"]


def test_an_answer_that_cannot_be_saved_stays_and_is_saved_later(chat: Chat, disk: FullDisk) -> None:
    """Case 73: one notice, text on the screen, also after going away and back."""
    ask(chat, "one")
    one = chat.current
    disk.full = True
    chat.engine.asked.say("all of it")
    chat.database.drain()
    chat.engine.asked.finish(generated_tokens=3)
    chat.database.drain()
    assert chat.keys() == [chat_notices.UNSAVED]
    assert chat.controller._parts.unsaved.timer.isActive()
    chat.controller.new_conversation()
    chat.controller.open(one)
    chat.database.drain()
    assert chat.shown == ["one", "all of it"]
    assert chat.rows[1].status is Status.DONE
    assert chat.on_disk()[1] == ("assistant", "streaming", "")
    disk.full = False
    chat.controller._parts.unsaved.timer.timeout.emit()
    chat.database.drain()
    assert chat.on_disk()[1] == ("assistant", "done", "all of it")
    assert chat.withdrawn[-1] == chat_notices.UNSAVED


def test_a_deletion_that_cannot_be_saved_is_taken_back(chat: Chat, disk: FullDisk) -> None:
    one = chat.say("one", "first")
    disk.full = True
    chat.controller.delete(one)
    chat.database.drain()
    assert chat.titles == ["one"]
    assert chat.keys() == [chat_notices.OPEN]


def test_a_bug_in_the_store_does_not_leave_the_chat_waiting(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Store, "ask", bug)
    chat.controller.send("Hello")
    with qtbot.captureExceptions() as raised:
        chat.database.drain()
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]
    assert (chat.restored, chat.controller.busy) == (["Hello"], False)


def test_a_newer_database_is_told_and_the_chat_works(qtbot: QtBot, tmp_path: Path) -> None:
    first = Chat(tmp_path)
    first.start()
    first.say("one", "first")
    first.controller.close(lambda: None)
    first.database.drain()
    with closing(sqlite3.connect(first.path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = first.path.read_bytes()
    chat = Chat(tmp_path)
    chat.start()
    assert chat.keys() == ["chat-database-newer"]
    chat.say("two", "not saved")
    assert (chat.titles, chat.shown) == (["two"], ["two", "not saved"])
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert first.path.read_bytes() == before


def test_a_damaged_database_is_told_once(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "vramble.sqlite3").write_bytes(b"rubbish")
    chat = Chat(tmp_path)
    chat.start()
    assert chat.keys() == ["chat-database-replaced"]
    chat.say("one", "first")
    assert len(chat.on_disk()) == 2
    chat.controller.close(lambda: None)
    chat.database.drain()


# The end


def test_close_saves_what_streams(chat: Chat) -> None:
    ask(chat, "one")
    chat.engine.asked.say("half an answer")
    done: list[int] = []
    chat.controller.close(lambda: done.append(len(chat.on_disk())))
    assert done == []
    chat.engine.asked.say(" and more")
    chat.engine.asked.finish()
    chat.database.drain()
    assert done == [2]
    assert chat.on_disk()[1] == ("assistant", "stopped", "half an answer")
    assert not chat.controller.send("late")


def test_close_while_the_question_is_being_saved(chat: Chat) -> None:
    chat.controller.send("one")
    done: list[None] = []
    chat.controller.close(lambda: done.append(None))
    chat.database.drain()
    assert done == [None]
    assert chat.on_disk() == [("user", "done", "one"), ("assistant", "stopped", "")]
    assert chat.engine.log.generated == []


def test_close_saves_what_could_not_be_saved_before(chat: Chat, disk: FullDisk) -> None:
    ask(chat, "one")
    disk.full = True
    chat.engine.asked.say("all of it")
    chat.engine.asked.finish()
    chat.database.drain()
    disk.full = False
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert chat.on_disk()[1] == ("assistant", "done", "all of it")


def test_close_calls_back_even_when_nothing_can_be_saved(chat: Chat, disk: FullDisk) -> None:
    ask(chat, "one")
    disk.full = True
    done: list[None] = []
    chat.controller.close(lambda: done.append(None))
    chat.database.drain()
    assert done == [None]


def test_a_model_that_would_not_fit_is_prepared_before_anything_is_asked(chat: Chat) -> None:
    """What fits, and whether it does after all, is found like in a load by hand; the message stays in the composer."""
    unloaded(chat)
    chat.choice = VrambleError(DOES_NOT_FIT, "It would not fit.", "Choose how it is loaded.", "/models/Large.gguf")
    wanted: list[Path] = []
    chat.controller.fit_wanted.connect(wanted.append)
    assert not chat.controller.send("Hello")
    assert wanted == [Path("/models/Large.gguf")]
    assert (chat.restored, chat.keys(), chat.rows) == ([], [], ())
    assert chat.engine.log.generated == []
