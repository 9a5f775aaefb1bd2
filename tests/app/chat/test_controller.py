"""The controller in ordinary life, step by step."""

from __future__ import annotations

import pytest

from app.chat.progress_words import STOPPING, WAITING
from app.chat.rows import YOU
from app.chat.settings import ChatSettings
from engine.chat.records import Role, Status
from engine.protocol.frames import Progress
from engine.protocol.types import ChatMessage, FinishReason
from tests.app.chat.conftest import Chat
from tests.app.chat.cranked import deliver


def test_a_question_is_on_disk_before_the_engine_is_asked(chat: Chat) -> None:
    assert chat.controller.send("Hello there")
    assert [(row.text, row.role, row.status) for row in chat.rows] == [
        ("Hello there", Role.USER, Status.DONE),
        ("", Role.ASSISTANT, Status.STREAMING),
    ]
    assert chat.on_disk() == []
    chat.database.step()
    assert chat.on_disk() == [("user", "done", "Hello there"), ("assistant", "streaming", "")]
    assert chat.engine.log.generated == []
    deliver()
    assert [asked.messages for asked in chat.engine.log.generated] == [
        (ChatMessage(role="user", content="Hello there"),)
    ]


def test_a_whole_turn(chat: Chat) -> None:
    chat.controller.send("Hello there")
    assert chat.busies == [True]
    chat.database.drain()
    assert chat.titles == ["Hello there"]
    assert [current.title for current in chat.currents if current] == ["Hello there"]
    assert chat.rows[1].progress == WAITING
    chat.engine.asked.say("Hi", " you")
    assert chat.rows[1].text == "Hi"
    assert chat.rows[1].progress == ""
    chat.engine.asked.finish(prompt_tokens=3, generated_tokens=2)
    assert chat.shown == ["Hello there", "Hi you"]
    assert [row.author for row in chat.rows] == [YOU, "Tiny"]
    assert chat.rows[1].status is Status.DONE
    assert chat.rows[1].stats is not None
    assert chat.rows[1].stats.generated_tokens == 2
    assert chat.busies == [True, False]
    chat.database.drain()
    assert chat.on_disk() == [("user", "done", "Hello there"), ("assistant", "done", "Hi you")]
    assert (chat.posted, chat.restored) == ([], [])


def test_rows_stay_the_same_when_they_are_read_again(chat: Chat) -> None:
    one = chat.say("one", "first")
    rows = chat.rows
    chat.controller.new_conversation()
    chat.controller.open(one)
    chat.database.drain()
    assert [(r.id, r.text, r.status, r.author, r.stats) for r in chat.rows] == [
        (r.id, r.text, r.status, r.author, r.stats) for r in rows
    ]


def test_the_prompt_is_the_shown_branch_with_settings(chat: Chat) -> None:
    chat.settings.put(ChatSettings(system_prompt="Be short.", temperature=0.0, max_tokens=50))
    chat.say("one", "first")
    chat.controller.send("two")
    chat.database.drain()
    assert [(m.role, m.content) for m in chat.engine.asked.messages] == [
        ("system", "Be short."),
        ("user", "one"),
        ("assistant", "first"),
        ("user", "two"),
    ]
    assert chat.engine.asked.sampling.temperature == 0.0
    assert chat.engine.asked.max_tokens == 50


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000"])
def test_blank_text_is_refused(chat: Chat, text: str) -> None:
    assert not chat.controller.send(text)
    assert (chat.rows, chat.restored, chat.posted) == ((), [], [])
    assert not chat.database.waiting


@pytest.mark.parametrize("when", ["before it is saved", "after"])
def test_enter_twice_sends_once(chat: Chat, when: str) -> None:
    """Case 115."""
    assert chat.controller.send("Hello")
    if when == "after":
        chat.database.drain()
    assert not chat.controller.send("Hello")
    chat.database.drain()
    assert len(chat.engine.log.generated) == 1
    assert chat.shown == ["Hello", ""]
    assert (chat.restored, chat.posted) == ([], [])


def test_twenty_new_chats_are_one(chat: Chat) -> None:
    """Case 115."""
    chat.say("one", "first")
    for _ in range(20):
        chat.controller.new_conversation()
    assert chat.titles == ["one"]
    assert chat.currents[1:] == [None]
    chat.say("two", "second")
    assert chat.titles == ["two", "one"]


def test_stop_keeps_what_was_written(chat: Chat) -> None:
    chat.controller.send("Count")
    chat.database.drain()
    chat.engine.asked.say("one", " two")
    chat.controller.stop()
    chat.controller.stop()
    assert chat.engine.log.cancelled == [chat.engine.asked.id]
    assert chat.rows[1].progress in ("", STOPPING)
    chat.engine.asked.say(" three")
    chat.engine.asked.finish(FinishReason.CANCELLED, generated_tokens=3)
    chat.database.drain()
    assert chat.shown == ["Count", "one two three"]
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.STOPPED, None)
    assert chat.on_disk()[1] == ("assistant", "stopped", "one two three")
    assert not chat.controller.busy


def test_stop_before_the_question_is_saved_never_asks(chat: Chat) -> None:
    chat.controller.send("Hello")
    chat.controller.stop()
    chat.database.drain()
    assert chat.engine.log.generated == []
    assert chat.on_disk() == [("user", "done", "Hello"), ("assistant", "stopped", "")]
    assert not chat.controller.busy


def test_an_answer_of_another_conversation_is_stopped_from_outside(chat: Chat) -> None:
    chat.controller.stop_any()
    chat.controller.send("Count")
    chat.database.drain()
    chat.engine.asked.say("one")
    chat.controller.new_conversation()
    chat.controller.stop()
    assert chat.engine.log.cancelled == []
    chat.controller.stop_any()
    assert chat.engine.log.cancelled == [chat.engine.asked.id]


def test_stop_with_nothing_running(chat: Chat) -> None:
    chat.controller.stop()
    assert chat.engine.log.cancelled == []


def test_regenerate_makes_a_version(chat: Chat) -> None:
    chat.say("one", "first")
    chat.controller.regenerate()
    assert chat.controller.busy
    chat.controller.regenerate()
    chat.database.drain()
    assert len(chat.engine.log.generated) == 2
    assert [(m.role, m.content) for m in chat.engine.asked.messages] == [("user", "one")]
    chat.engine.asked.say("second")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["one", "second"]
    assert [(row.version, row.versions) for row in chat.rows] == [(1, 1), (2, 2)]
    assert [text for _, _, text in chat.on_disk()] == ["one", "first", "second"]


def test_versions_can_be_shown_again(chat: Chat) -> None:
    chat.say("one", "first")
    chat.controller.regenerate(chat.rows[1].id)
    chat.database.drain()
    chat.engine.asked.say("second")
    chat.controller.show_version(chat.rows[1].id, -1)
    assert not chat.database.waiting or chat.shown[1] == "second"
    chat.engine.asked.finish()
    chat.database.drain()
    chat.controller.show_version(chat.rows[1].id, -1)
    chat.database.drain()
    assert chat.shown == ["one", "first"]
    assert (chat.rows[1].version, chat.rows[1].versions) == (1, 2)
    chat.say("two", "after the first")
    chat.controller.show_version(chat.rows[1].id, +1)
    chat.database.drain()
    assert chat.shown == ["one", "second"]
    chat.controller.show_version(chat.rows[1].id, -1)
    chat.database.drain()
    assert chat.shown == ["one", "first", "two", "after the first"]


def test_regenerate_without_anything_to_answer(chat: Chat) -> None:
    chat.controller.regenerate()
    chat.controller.regenerate("nobody")
    assert not chat.database.waiting


def test_regenerate_an_earlier_answer(chat: Chat) -> None:
    chat.say("one", "first")
    chat.say("two", "second")
    chat.controller.regenerate(chat.rows[1].id)
    chat.database.drain()
    assert chat.shown == ["one", ""]
    chat.engine.asked.say("other")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["one", "other"]


def test_rename(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.rename(one, "  A better\nname ")
    chat.database.drain()
    assert chat.titles == ["A better name"]
    assert [current.title for current in chat.currents if current] == ["one", "A better name"]
    chat.controller.rename(one, "")
    chat.database.drain()
    assert chat.titles == ["one"]
    chat.controller.rename("nobody", "x")
    chat.database.drain()
    assert chat.posted == []


def test_progress_is_words(chat: Chat) -> None:
    chat.controller.send("Hello")
    chat.database.drain()
    asked = chat.engine.asked
    asked.on_progress(Progress(id=asked.id, stage="load", done=450, total=1000))
    assert chat.rows[1].progress == "Loading the model: 45 %"
    chat.controller.stop()
    asked.on_progress(Progress(id=asked.id, stage="prompt", done=5, total=10))
    chat.engine.asked.finish(FinishReason.CANCELLED)
    assert chat.rows[1].progress == ""


def test_a_thousand_deltas_are_few_changes_and_few_saves(chat: Chat) -> None:
    chat.controller.send("Write")
    chat.database.drain()
    changes: list[list[int]] = []
    chat.controller.transcript.dataChanged.connect(lambda first, last, roles: changes.append(roles))
    done = chat.database.done
    running = chat.controller._answering.of(chat.current)
    assert running is not None
    running._show.timer.setInterval(3_600_000)
    running._save.timer.setInterval(3_600_000)
    for number in range(1000):
        chat.engine.asked.say(f"word{number} ")
    assert len(changes) == 1
    assert len(chat.database.waiting) == 1
    running._show.timer.timeout.emit()
    running._save.timer.timeout.emit()
    assert len(changes) == 2
    chat.database.drain()
    running._save.timer.timeout.emit()
    chat.database.drain()
    assert chat.on_disk()[1] == ("assistant", "streaming", "".join(f"word{n} " for n in range(1000)))
    assert chat.database.done - done <= 3
    assert all(changes)
    chat.engine.asked.finish()
    assert chat.shown[1].split()[-1] == "word999"


def test_a_slow_disk_gets_one_save_at_a_time(chat: Chat) -> None:
    chat.controller.send("Write")
    chat.database.drain()
    running = chat.controller._answering.of(chat.current)
    assert running is not None
    running._save.timer.setInterval(3_600_000)
    for word in ("a", "b", "c", "d"):
        chat.engine.asked.say(word)
        running._save.timer.timeout.emit()
    assert len(chat.database.waiting) == 1
    chat.database.turn()
    running._save.timer.timeout.emit()
    chat.database.drain()
    assert chat.on_disk()[1][2] == "abcd"


def test_ordering_of_the_list_follows_the_last_message(chat: Chat) -> None:
    one = chat.say("one", "x")
    chat.controller.new_conversation()
    chat.say("two", "x")
    assert chat.titles == ["two", "one"]
    chat.controller.open(one)
    chat.database.drain()
    chat.say("more", "x")
    assert chat.titles == ["one", "two"]


def test_the_history_is_there_at_the_next_start(chat: Chat, tmp_path: object) -> None:
    one = chat.say("one", "first")
    chat.controller.close(lambda: None)
    chat.database.drain()
    again = Chat(chat.path.parent)
    again.controller.open(one)
    again.start()
    assert again.titles == ["one"]
    assert again.shown == ["one", "first"]
    assert again.current == one
    again.controller.close(lambda: None)
    again.database.drain()


def test_opening_what_is_not_there_gives_a_new_chat(chat: Chat) -> None:
    chat.controller.open("nobody")
    assert chat.currents == []
    chat.database.drain()
    assert chat.controller.current is None
    assert chat.currents == [None]
    chat.say("one", "first")
    assert chat.titles == ["one"]


def test_fast_switching_shows_the_last_one_chosen(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.new_conversation()
    two = chat.say("two", "second")
    chat.controller.open(one)
    chat.controller.open(two)
    chat.controller.open(one)
    chat.database.drain()
    assert (chat.current, chat.shown) == (one, ["one", "first"])


def test_sending_before_the_conversation_is_read(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.new_conversation()
    two = chat.say("two", "second")
    chat.controller.open(one)
    assert chat.controller.send("more")
    assert chat.shown == ["two", "second"]
    chat.database.drain()
    assert chat.shown == ["one", "first", "more", ""]
    assert [m.content for m in chat.engine.asked.messages] == ["one", "first", "more"]
    chat.engine.asked.finish()
    chat.controller.open(two)
    chat.database.drain()
    assert chat.shown == ["two", "second"]


def test_text_is_cleaned_for_screen_disk_and_prompt(chat: Chat) -> None:
    """Case 53."""
    chat.controller.send("a\ud83d\0\x1b[31m")
    chat.database.drain()
    cleaned = "a\ufffd\ufffd␛[31m"
    assert chat.shown[0] == cleaned
    assert chat.engine.asked.messages[0].content == cleaned
    chat.engine.asked.say("x\r", "\ny\x07")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown[1] == "x\ny␇"
    assert [text for _, _, text in chat.on_disk()] == [cleaned, "x\ny␇"]
