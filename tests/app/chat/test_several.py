"""Answers in several conversations at once: each goes where it belongs, is stopped, saved and ended by itself."""

from __future__ import annotations

import pytest

from app.chat.conversation_list import ConversationListModel
from engine.chat.records import Status
from engine.protocol.frames import Progress
from engine.protocol.types import FinishReason
from tests.app.chat.conftest import Chat
from tests.app.chat.scripted_engine import Asked
from tests.app.chat.test_trouble import FullDisk


def ask(chat: Chat, text: str) -> Asked:
    """In a new conversation; the answer is being written."""
    chat.controller.new_conversation()
    assert chat.controller.send(text)
    chat.database.drain()
    return chat.engine.asked


def two_answers(chat: Chat) -> tuple[str, Asked, str, Asked]:
    """Two conversations with their answers; the second one is open."""
    first = ask(chat, "one")
    one = chat.current
    second = ask(chat, "two")
    return one, first, chat.current, second


def go(chat: Chat, conversation: str) -> None:
    chat.controller.open(conversation)
    chat.database.drain()


def answering(chat: Chat) -> list[str]:
    """Titles that the list marks."""
    rows = chat.controller.conversations
    return [
        title
        for number, title in enumerate(chat.titles)
        if rows.index(number, 0).data(ConversationListModel.Role.ANSWERING)
    ]


def last(chat: Chat) -> tuple[str, Status]:
    row = chat.rows[-1]
    return row.text, row.status


def test_each_streams_into_its_own_conversation_and_is_seen_when_one_goes_there(chat: Chat) -> None:
    one, first, two, second = two_answers(chat)
    first.say("uno ")
    second.say("due ")
    assert last(chat) == ("due ", Status.STREAMING)
    go(chat, one)
    assert last(chat) == ("uno ", Status.STREAMING)
    assert chat.busies[-1:] == [True]
    second.say("tre")
    second.finish()
    chat.database.drain()
    assert last(chat) == ("uno ", Status.STREAMING)
    assert chat.busies[-1:] == [True]
    first.say("fine")
    first.finish()
    chat.database.drain()
    assert last(chat) == ("uno fine", Status.DONE)
    assert chat.busies[-1:] == [False]
    go(chat, two)
    assert last(chat) == ("due tre", Status.DONE)
    assert sorted(text for role, _, text in chat.on_disk() if role == "assistant") == ["due tre", "uno fine"]


def test_what_is_shown_follows_its_answer_while_another_one_is_written(chat: Chat) -> None:
    one, first, _two, second = two_answers(chat)
    go(chat, one)
    first.say("uno")
    second.say("due")
    assert chat.shown == ["one", "uno"]


def test_stop_ends_the_answer_that_is_seen(chat: Chat) -> None:
    one, first, _two, second = two_answers(chat)
    go(chat, one)
    chat.controller.stop()
    assert chat.engine.log.cancelled == [first.id]
    first.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert chat.rows[-1].status is Status.STOPPED
    assert answering(chat) == ["two"]
    second.finish()


def test_the_list_says_where_answers_are_written(chat: Chat) -> None:
    _one, first, _two, second = two_answers(chat)
    assert answering(chat) == ["two", "one"]
    changed: list[int] = []
    chat.controller.conversations.dataChanged.connect(lambda top, *_rest: changed.append(top.row()))
    first.say("x")
    first.finish()
    assert (answering(chat), 1 in changed) == (["two"], True)
    second.say("x")
    second.finish()
    chat.database.drain()
    assert answering(chat) == []


def test_deleting_a_conversation_stops_its_answer_only(chat: Chat) -> None:
    one, first, _two, second = two_answers(chat)
    chat.controller.delete(one)
    assert chat.engine.log.cancelled == [first.id]
    first.say("late")
    first.finish(FinishReason.CANCELLED)
    second.say("due")
    second.finish()
    chat.database.drain()
    assert (chat.titles, last(chat)) == (["two"], ("due", Status.DONE))
    chat.controller.undo_delete()
    chat.database.drain()
    go(chat, one)
    assert last(chat) == ("late", Status.STOPPED)


def test_a_temporary_one_beside_another_is_stopped_by_itself_and_never_saved(chat: Chat) -> None:
    first = ask(chat, "one")
    one = chat.current
    chat.controller.new_conversation(temporary=True)
    assert chat.controller.send("secret")
    chat.database.drain()
    second = chat.engine.asked
    first.say("uno")
    second.say("due")
    assert last(chat) == ("due", Status.STREAMING)
    chat.controller.stop()
    assert chat.engine.log.cancelled == [second.id]
    second.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert last(chat) == ("due", Status.STOPPED)
    go(chat, one)
    assert last(chat) == ("uno", Status.STREAMING)
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert [text for _, _, text in chat.on_disk()] == ["one", "uno"]


def test_all_are_stopped_from_outside(chat: Chat) -> None:
    _one, first, _two, second = two_answers(chat)
    chat.controller.new_conversation()
    chat.controller.stop_any()
    assert chat.engine.log.cancelled == [first.id, second.id]


def test_quitting_saves_all_of_them(chat: Chat) -> None:
    _one, first, _two, second = two_answers(chat)
    first.say("uno")
    second.say("due")
    done: list[None] = []
    chat.controller.close(lambda: done.append(None))
    chat.database.drain()
    assert len(done) == 1
    answers = sorted((status, text) for role, status, text in chat.on_disk() if role == "assistant")
    assert answers == [("stopped", "due"), ("stopped", "uno")]


def test_each_fails_by_itself_with_its_words(chat: Chat) -> None:
    one, first, _two, second = two_answers(chat)
    first.say("uno")
    second.say("due")
    for asked in (first, second):
        asked.fail("crashed", "The engine crashed.")
    chat.database.drain()
    assert (last(chat), chat.rows[-1].error) == (("due", Status.FAILED), "The engine crashed.")
    go(chat, one)
    assert (last(chat), chat.rows[-1].error) == (("uno", Status.FAILED), "The engine crashed.")


def test_messages_wait_for_the_answer_of_their_own_conversation(chat: Chat) -> None:
    one, first, two, second = two_answers(chat)
    assert chat.controller.send("after two")
    go(chat, one)
    assert chat.controller.send("after one")
    assert (chat.controller.queue.of(one), chat.controller.queue.of(two)) == (("after one",), ("after two",))
    second.say("due")
    second.finish()
    chat.database.drain()
    assert (chat.engine.asked.conversation, chat.engine.asked.messages[-1].content) == (two, "after two")
    assert chat.controller.queue.of(one) == ("after one",)
    first.say("uno")
    first.finish()
    chat.database.drain()
    assert (chat.engine.asked.conversation, chat.engine.asked.messages[-1].content) == (one, "after one")
    assert chat.shown == ["one", "uno", "after one", ""]


def test_one_that_waits_for_its_turn_says_so_and_can_be_stopped(chat: Chat) -> None:
    _one, _first, _two, second = two_answers(chat)
    second.on_progress(Progress(id=second.id, stage="turn", done=0, total=0))
    assert chat.rows[-1].progress == "Waiting until another answer has ended"
    second.on_progress(Progress(id=second.id, stage="room", done=0, total=0))
    chat.controller.stop()
    assert chat.engine.log.cancelled == [second.id]


def test_a_question_that_cannot_be_stored_leaves_the_others_alone(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(chat, "one")
    one = chat.current
    chat.controller.new_conversation()
    full = FullDisk(monkeypatch)
    full.full = True
    assert chat.controller.send("two")
    chat.database.drain()
    full.full = False
    assert (chat.restored, chat.controller.current) == (["two"], None)
    assert answering(chat) == ["one"]
    go(chat, one)
    first.say("uno")
    assert last(chat) == ("uno", Status.STREAMING)


def test_the_same_conversation_is_never_answered_twice(chat: Chat) -> None:
    ask(chat, "one")
    count = len(chat.engine.log.generated)
    chat.controller.regenerate()
    chat.controller.steering.go_on()
    chat.database.drain()
    assert len(chat.engine.log.generated) == count
