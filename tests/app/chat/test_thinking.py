"""Thoughts in the chat: kept apart from the answer, on disk, and in the next prompt only beside it."""

from __future__ import annotations

import pytest

from app.chat.outcome import NO_TEXT, THOUGHT_CUT, THOUGHT_FULL
from engine.chat.records import Status
from engine.protocol.frames import Delta, Finished
from engine.protocol.types import ChatMessage, FinishReason, GenerationStats
from tests.app.chat.conftest import Chat


def think(chat: Chat, *pieces: str) -> None:
    for piece in pieces:
        chat.engine.asked.on_delta(Delta(id=chat.engine.asked.id, text="", thinking=piece))


def test_a_thought_is_kept_apart(chat: Chat) -> None:
    chat.controller.send("Why?")
    chat.database.drain()
    think(chat, "It is\r", "\nclear.")
    row = chat.rows[1]
    assert (row.text, row.thinking, row.progress) == ("", "It is", "")
    chat.engine.asked.say("Because.")
    chat.engine.asked.finish()
    chat.database.drain()
    row = chat.rows[1]
    assert (row.text, row.thinking, row.progress) == ("Because.", "It is\nclear.", "")
    assert chat.on_disk() == [
        ("user", "done", "Why?"),
        ("assistant", "done", "It is\nclear."),
        ("assistant", "done", "Because."),
    ]
    chat.controller.send("Sure?")
    chat.database.drain()
    assert chat.engine.asked.messages == (
        ChatMessage(role="user", content="Why?"),
        ChatMessage(role="assistant", content="Because.", thinking="It is\nclear."),
        ChatMessage(role="user", content="Sure?"),
    )


def test_a_thought_is_there_at_the_next_start(chat: Chat) -> None:
    chat.controller.send("Why?")
    chat.database.drain()
    think(chat, "Hm.")
    chat.engine.asked.say("Because.")
    chat.engine.asked.finish()
    chat.database.drain()
    conversation = chat.current
    chat.controller.new_conversation()
    chat.controller.open(conversation)
    chat.database.drain()
    assert [(row.text, row.thinking) for row in chat.rows] == [("Why?", ""), ("Because.", "Hm.")]


def test_stopped_in_mid_thought(chat: Chat) -> None:
    chat.controller.send("Why?")
    chat.database.drain()
    think(chat, "Hm")
    chat.controller.stop()
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    row = chat.rows[1]
    assert (row.text, row.thinking, row.status, row.error) == ("", "Hm", Status.STOPPED, None)


@pytest.mark.parametrize(
    ("reason", "opened", "words"),
    [
        (FinishReason.LENGTH, True, THOUGHT_CUT),
        (FinishReason.CONTEXT, True, THOUGHT_FULL),
        (FinishReason.STOP, True, NO_TEXT),
        (FinishReason.STOP, False, NO_TEXT),
    ],
)
def test_only_a_thought_is_no_answer(chat: Chat, reason: FinishReason, opened: bool, words: str) -> None:
    """Cases 31 (c) and 37."""
    chat.controller.send("Why?")
    chat.database.drain()
    think(chat, "Hm")
    asked = chat.engine.asked
    asked.done(Finished(id=asked.id, reason=reason, stats=GenerationStats(), thinking_open=opened))
    chat.database.drain()
    row = chat.rows[1]
    assert (row.status, row.thinking) == (Status.FAILED, "Hm")
    assert row.error is not None
    assert row.error.startswith(words)
    chat.controller.send("Again?")
    chat.database.drain()
    assert [message.role for message in chat.engine.asked.messages] == ["user"]
