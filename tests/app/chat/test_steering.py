"""Commands on messages: edit, go on, another model, branch, delete with undo; and what answers are made with."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
import pytest

from app.chat.chat_notices import DELETED
from app.chat.model_choice import Choice
from app.chat.rows import can_continue
from app.chat.settings import ChatSettings, ContextPolicy
from engine.chat.records import Draft, Status
from engine.chat.store import Store
from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Failed, Loaded
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, Thinking
from tests.app.chat.conftest import Chat
from tests.app.chat.scripted_engine import model_info


def prompt(chat: Chat) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in chat.engine.asked.messages]


def test_an_edited_question_is_asked_again(chat: Chat) -> None:
    chat.say("one", "first")
    chat.say("two", "second")
    assert chat.controller.steering.edit(chat.rows[0].id, "uno")
    assert chat.busies[-1] is True
    chat.database.drain()
    assert prompt(chat) == [("user", "uno")]
    chat.engine.asked.say("primo")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.shown == ["uno", "primo"]
    assert [(row.version, row.versions) for row in chat.rows] == [(2, 2), (1, 1)]
    chat.controller.show_version(chat.rows[0].id, -1)
    chat.database.drain()
    assert chat.shown == ["one", "first", "two", "second"]


def test_edits_that_are_not_taken(chat: Chat) -> None:
    chat.say("one", "first")
    steering = chat.controller.steering
    assert not steering.edit(chat.rows[0].id, "  ")
    assert not steering.edit(chat.rows[1].id, "an answer is no question")
    assert not steering.edit("nothing", "x")
    chat.controller.send("two")
    assert not steering.edit(chat.rows[0].id, "uno")
    chat.database.drain()
    assert len(chat.engine.log.generated) == 2


def cut(chat: Chat, reason: FinishReason = FinishReason.LENGTH) -> None:
    chat.controller.send("Count")
    chat.database.drain()
    asked = chat.engine.asked
    asked.on_delta(Delta(id=asked.id, text="", thinking="Easy"))
    asked.say("one, ", "two")
    asked.finish(reason, generated_tokens=4)
    chat.database.drain()


def test_a_cut_answer_goes_on(chat: Chat) -> None:
    cut(chat)
    before = chat.rows[1]
    assert can_continue(before)
    chat.controller.steering.go_on()
    chat.database.drain()
    assert (chat.rows[1].id, chat.rows[1].status, chat.rows[1].text) == (before.id, Status.STREAMING, "one, two")
    asked = chat.engine.asked
    assert (prompt(chat), asked.prefill, asked.prefill_thinking) == ([("user", "Count")], "one, two", "Easy")
    asked.say(", three")
    asked.finish(generated_tokens=2)
    chat.database.drain()
    row = chat.rows[1]
    assert (row.text, row.thinking, row.status, row.versions) == ("one, two, three", "Easy", Status.DONE, 1)
    assert row.stats is not None
    assert row.stats.generated_tokens == 6
    assert not can_continue(row)
    assert chat.on_disk()[-1] == ("assistant", "done", "one, two, three")


def test_an_answer_that_goes_on_and_fails_keeps_its_words(chat: Chat) -> None:
    cut(chat, FinishReason.CANCELLED)
    chat.controller.steering.go_on()
    chat.database.drain()
    chat.engine.asked.fail("worker-died", "The engine ended.")
    chat.database.drain()
    row = chat.rows[1]
    assert (row.text, row.status, row.error) == ("one, two", Status.FAILED, "The engine ended.")
    assert can_continue(row)


def test_what_ended_by_itself_does_not_go_on(chat: Chat) -> None:
    chat.say("one", "first")
    chat.controller.steering.go_on()
    chat.database.drain()
    assert len(chat.engine.log.generated) == 1


def with_choice(chat: Chat) -> None:
    chat.controller.steering._choice_of = lambda path: Choice(path, LoadOptions(n_ctx=512))


def test_again_with_another_model(chat: Chat) -> None:
    with_choice(chat)
    chat.say("one", "first")
    chat.controller.regenerate(model=Path("/models/Other.gguf"))
    chat.database.drain()
    load = chat.engine.log.loaded[-1]
    assert (load.path, load.options.n_ctx, len(chat.engine.log.generated)) == (Path("/models/Other.gguf"), 512, 1)
    chat.engine.set_model(model_info("Other"))
    load.done(Loaded(id=load.id, model=model_info("Other"), seconds=1.0))
    chat.engine.asked.say("zweite")
    chat.engine.asked.finish()
    chat.database.drain()
    row = chat.rows[1]
    assert (row.text, row.author, row.version, row.versions) == ("zweite", "Other", 2, 2)


def test_a_model_that_is_loaded_already_is_not_loaded_for_it(chat: Chat) -> None:
    """A load would end the answers elsewhere."""
    with_choice(chat)
    chat.say("one", "first")
    assert chat.engine.model is not None
    chat.controller.regenerate(model=Path(chat.engine.model.path))
    chat.database.drain()
    assert (chat.engine.log.loaded, len(chat.engine.log.generated)) == ([], 2)


def test_the_other_model_does_not_load(chat: Chat) -> None:
    with_choice(chat)
    chat.say("one", "first")
    chat.controller.regenerate(model=Path("/models/Other.gguf"))
    chat.database.drain()
    load = chat.engine.log.loaded[-1]
    load.done(Failed(id=load.id, code="out-of-memory", message="It does not fit."))
    chat.database.drain()
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.FAILED, "It does not fit.")
    assert len(chat.engine.log.generated) == 1


def test_stop_while_the_other_model_loads(chat: Chat) -> None:
    with_choice(chat)
    chat.say("one", "first")
    chat.controller.regenerate(model=Path("/models/Other.gguf"))
    chat.database.drain()
    load = chat.engine.log.loaded[-1]
    chat.controller.stop()
    assert chat.engine.log.cancelled == [load.id]
    load.done(Failed(id=load.id, code="cancelled", message="Cancelled."))
    chat.database.drain()
    assert (chat.rows[1].status, chat.rows[1].error) == (Status.STOPPED, None)


def test_a_branch_is_a_conversation_of_its_own(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.say("two", "second")
    chat.controller.steering.branch(chat.rows[1].id)
    chat.database.drain()
    assert chat.current != one
    assert (chat.shown, chat.titles) == (["one", "first"], ["one (2)", "one"])
    chat.say("three", "third")
    assert prompt(chat) == [("user", "one"), ("assistant", "first"), ("user", "three")]
    chat.controller.steering.branch(chat.rows[1].id)
    chat.database.drain()
    assert chat.titles[0] == "one (3)"


def undo(chat: Chat) -> None:
    notice = next(notice for notice in reversed(chat.posted) if notice.key == DELETED)
    notice.actions[0].run()
    chat.database.drain()


def test_delete_from_here_and_undo(chat: Chat) -> None:
    chat.say("one", "first")
    chat.say("two", "second")
    chat.controller.steering.delete_from(chat.rows[2].id)
    chat.database.drain()
    assert chat.shown == ["one", "first"]
    assert chat.posted[-1].text == "2 messages were deleted."
    undo(chat)
    assert chat.shown == ["one", "first", "two", "second"]


def test_what_is_deleted_is_purged_at_the_end(chat: Chat) -> None:
    chat.say("one", "first")
    chat.say("two", "second")
    chat.controller.steering.delete_from(chat.rows[2].id)
    chat.database.drain()
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert [text for _, _, text in chat.on_disk()] == ["one", "first"]


def test_nothing_is_deleted_while_an_answer_is_written(chat: Chat) -> None:
    chat.say("one", "first")
    chat.controller.send("two")
    chat.database.drain()
    chat.controller.steering.delete_from(chat.rows[0].id)
    chat.database.drain()
    assert chat.shown == ["one", "first", "two", ""]


# What answers are made with


def test_parameters_of_a_conversation_reach_the_engine(chat: Chat) -> None:
    chat.settings.put(ChatSettings(temperature=0.3))
    parameters = chat.controller.parameters
    parameters.change(
        system_prompt="Be short.", temperature=1.5, think=False, overflow=ContextPolicy.SHIFT, prefill="Well"
    )
    chat.controller.send("one")
    chat.database.drain()
    asked = chat.engine.asked
    assert asked.messages[0] == ChatMessage(role="system", content="Be short.")
    assert (asked.sampling.temperature, asked.thinking, asked.overflow, asked.prefill) == (
        1.5,
        Thinking(enabled=False),
        Overflow.SHIFT,
        "Well",
    )
    asked.say(", no.")
    asked.finish()
    chat.database.drain()
    assert chat.rows[1].text == "Well, no."
    first = chat.current
    chat.controller.new_conversation()
    assert (parameters.own, parameters.present.temperature) == ({}, 0.3)
    chat.controller.open(first)
    chat.database.drain()
    assert parameters.own["system_prompt"] == "Be short."


def test_they_are_there_after_a_restart(chat: Chat) -> None:
    chat.say("one", "first")
    chat.controller.parameters.change(top_k=7)
    chat.controller.parameters.save()
    chat.database.drain()
    record = chat.controller.current
    assert record is not None
    assert record.settings == '{"top_k":7}'
    chat.controller.parameters.reset("top_k")
    chat.controller.parameters.save()
    chat.database.drain()
    assert chat.controller.current is not None
    assert chat.controller.current.settings is None


def test_a_value_as_inherited_is_no_choice_and_bad_ones_are_passed_over(chat: Chat) -> None:
    parameters = chat.controller.parameters
    parameters.change(temperature=1.0)
    parameters.change(temperature=ChatSettings().temperature)
    assert parameters.own == {}
    parameters.take({"temperature": "hot", "top_k": 3, "unknown": 1})
    assert parameters.own == {"top_k": 3}
    parameters.change(top_p=7.0)
    assert parameters.own == {"top_k": 3}


def test_defaults_of_a_model(chat: Chat) -> None:
    parameters = chat.controller.parameters
    parameters.change(temperature=0.1, system_prompt="Tiny.")
    parameters.keep_for_model()
    assert parameters.own == {}
    assert (parameters.present.temperature, parameters.inherited.system_prompt) == (0.1, "Tiny.")
    chat.engine.set_model(model_info("Other"))
    assert parameters.present == ChatSettings()
    chat.engine.set_model(model_info("Tiny"))
    parameters.forget_for_model()
    assert parameters.present == ChatSettings()


def test_a_message_remembers_what_it_was_made_with(chat: Chat) -> None:
    chat.controller.parameters.change(system_prompt="Be short.", think_tokens=50, typical_p=0.5)
    chat.say("one", "first")
    threads: list[object] = []
    chat.controller._parts.database.call(lambda store: store.thread(chat.current), threads.append)
    chat.database.drain()
    settings = threads[0].messages[1].settings  # type: ignore[attr-defined]
    assert (settings.system_prompt, settings.thinking.budget, settings.sampling.typical_p) == ("Be short.", 50, 0.5)


def test_every_sampler_has_a_setting() -> None:
    settings = ChatSettings(**{f.name: f.default for f in msgspec.structs.fields(ChatSettings)})
    assert settings.sampling() == type(settings.sampling())()


def test_parameters_come_back_when_the_question_was_not_stored(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        raise VrambleError("disk-full", "The disk is full.")

    chat.controller.parameters.change(top_k=7)
    monkeypatch.setattr(Store, "ask", full)
    chat.controller.send("one")
    chat.database.drain()
    assert chat.restored == ["one"]
    assert chat.controller.parameters.own == {"top_k": 7}


# Messages that wait


def test_a_message_waits_for_the_answer(chat: Chat) -> None:
    chat.controller.send("one")
    chat.database.drain()
    assert chat.controller.send("two")
    assert chat.controller.send("three")
    conversation = chat.current
    assert chat.controller.queue.of(conversation) == ("two", "three")
    assert chat.controller.queue.take(conversation, 1) == "three"
    assert chat.shown == ["one", ""]
    chat.engine.asked.say("first")
    chat.engine.asked.finish()
    chat.database.drain()
    assert (chat.shown, chat.controller.queue.of(conversation)) == (["one", "first", "two", ""], ())
    assert prompt(chat) == [("user", "one"), ("assistant", "first"), ("user", "two")]


def test_it_waits_on_after_a_stop_and_goes_with_the_next_answer(chat: Chat) -> None:
    chat.controller.send("one")
    chat.database.drain()
    chat.controller.send("two")
    chat.controller.stop()
    chat.engine.asked.finish(FinishReason.CANCELLED)
    chat.database.drain()
    assert chat.controller.queue.of(chat.current) == ("two",)
    chat.say("three", "third")
    assert chat.shown[-2:] == ["two", ""]


def test_it_is_sent_in_its_own_conversation(chat: Chat) -> None:
    chat.controller.send("one")
    chat.database.drain()
    first = chat.current
    chat.controller.send("two")
    chat.controller.new_conversation()
    chat.engine.asked.say("first")
    chat.engine.asked.finish()
    chat.database.drain()
    assert chat.rows == ()
    assert prompt(chat)[-1] == ("user", "two")
    chat.controller.open(first)
    chat.database.drain()
    assert chat.shown == ["one", "first", "two", ""]


def test_what_waits_is_a_draft_when_the_program_ends(chat: Chat) -> None:
    chat.controller.send("one")
    chat.database.drain()
    conversation = chat.current
    chat.controller.keep_draft(conversation, Draft(text="half"))
    chat.controller.send("two")
    chat.controller.close(lambda: None)
    chat.database.drain()
    with contextlib.closing(Store.open(chat.path)) as store:
        assert store.drafts() == {conversation: Draft(text="half", pasted=("two",))}
