"""A full context: the model makes a summary of the oldest turns, which then stands for them."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.chat.context_use import context_use
from app.chat.progress_words import STOPPING
from app.chat.running_answer import RunningAnswer
from app.chat.settings import ContextPolicy
from app.chat.summaries import LEAD, WISH
from app.chat.summarising import NOT_SUMMARISED
from app.chat.summary_request import SUMMARISING
from engine.chat.records import Status
from engine.protocol.caching import Overflow
from engine.protocol.frames import Progress
from engine.protocol.types import FinishReason
from tests.app.chat.conftest import LONG, Chat
from tests.app.chat.scripted_engine import model_info


def ask(chat: Chat, text: str = "last") -> None:
    assert chat.controller.send(text)
    chat.database.drain()


def summarise(chat: Chat, text: str = "They spoke of words.") -> None:
    chat.engine.asked.say(text)
    chat.engine.asked.finish()
    chat.database.drain()


def answer(chat: Chat, **stats: int) -> None:
    chat.engine.asked.say("Well.")
    chat.engine.asked.finish(FinishReason.STOP, **stats)
    chat.database.drain()


def is_summary(chat: Chat) -> bool:
    return chat.engine.asked.messages[-1].content == WISH


def contents(chat: Chat) -> list[str]:
    return [message.content for message in chat.engine.asked.messages]


def test_the_oldest_turns_are_summarised_before_the_answer(full: Chat) -> None:
    ask(full)
    assert (is_summary(full), full.rows[-1].progress) == (True, SUMMARISING)
    wanted = contents(full)
    assert wanted[0] == "Be brief."
    assert wanted[1].startswith("question 0")
    assert full.engine.asked.thinking.enabled is False
    full.engine.asked.on_progress(Progress(id=full.engine.asked.id, stage="prompt", done=1, total=4))
    while is_summary(full):
        summarise(full)
    system, *rest = contents(full)
    assert system == f"Be brief.\n\n{LEAD}\nThey spoke of words."
    assert rest[-1] == "last"
    assert not any(text.startswith("question 0") for text in rest)
    assert full.engine.asked.overflow is Overflow.STOP
    answer(full)
    assert (full.rows[-1].text, full.rows[-1].error) == ("Well.", None)


def test_replaced_turns_are_told_and_kept(full: Chat) -> None:
    ask(full)
    while is_summary(full):
        summarise(full)
    before = len(full.rows)
    use = context_use(full.rows, full.controller.parameters.present, 1024)
    assert 0 < use.left_out < before
    assert full.rows[use.left_out].summary == "They spoke of words."
    assert use.summary > 0
    answer(full, prompt_tokens=300, generated_tokens=5)
    assert full.rows[-1].settings is not None
    assert full.rows[-1].settings.begun_at == full.rows[use.left_out].id
    assert full.shown[0].startswith("question 0")


def test_the_summary_is_made_once(full: Chat) -> None:
    ask(full)
    while is_summary(full):
        summarise(full)
    answer(full, prompt_tokens=sum(map(len, contents(full))) // 4, generated_tokens=5)
    asked = len(full.engine.log.generated)
    ask(full, "and now?")
    assert len(full.engine.log.generated) == asked + 1
    assert "They spoke of words." in contents(full)[0]


def test_one_that_is_on_the_disk_after_the_answer_is_shown_too(full: Chat, qtbot: QtBot) -> None:
    ask(full)
    while is_summary(full):
        full.engine.asked.say("They spoke of words.")
        full.engine.asked.finish()
    full.engine.asked.say("Well.")
    running = full.controller.findChildren(RunningAnswer)[-1]
    with qtbot.waitSignal(running.destroyed, timeout=60_000):
        full.engine.asked.finish(FinishReason.STOP)
    assert not any(row.summary for row in full.rows)
    full.database.drain()
    assert any(row.summary for row in full.rows)


def test_a_longer_context_takes_the_whole_again(full: Chat) -> None:
    ask(full)
    while is_summary(full):
        summarise(full)
    answer(full)
    full.engine.set_model(model_info(n_ctx=32768))
    ask(full, "and now?")
    assert contents(full)[0] == "Be brief."
    assert contents(full)[1].startswith("question 0")


def test_an_edit_further_up_leaves_the_summary_behind(full: Chat) -> None:
    ask(full)
    while is_summary(full):
        summarise(full)
    answer(full)
    assert full.controller.steering.edit(full.rows[0].id, "something else")
    full.database.drain()
    assert contents(full) == ["Be brief.", "something else"]


@pytest.mark.parametrize("how", ["error", "nothing"])
def test_one_that_fails_leaves_the_oldest_turns_out(full: Chat, how: str) -> None:
    ask(full)
    if how == "error":
        full.engine.asked.fail("template-failed")
    else:
        full.engine.asked.finish(FinishReason.STOP)
    full.database.drain()
    assert not is_summary(full)
    assert full.engine.asked.overflow is Overflow.SHIFT
    answer(full)
    assert (full.rows[-1].status, full.rows[-1].error) == (Status.DONE, NOT_SUMMARISED)


def test_stop_while_it_summarises(full: Chat) -> None:
    ask(full)
    asked, count = full.engine.asked, len(full.engine.log.generated)
    full.controller.stop()
    assert asked.id in full.engine.log.cancelled
    asked.finish(FinishReason.CANCELLED)
    full.database.drain()
    assert (full.rows[-1].status, full.rows[-1].text, full.rows[-1].progress) == (Status.STOPPED, "", "")
    assert len(full.engine.log.generated) == count
    assert not full.controller.busy
    assert STOPPING not in full.shown


def test_the_model_is_taken_away_while_it_summarises(full: Chat) -> None:
    ask(full)
    count = len(full.engine.log.generated)
    full.engine.asked.fail("stopped", "The model was unloaded.")
    full.database.drain()
    assert (full.rows[-1].status, len(full.engine.log.generated)) == (Status.STOPPED, count)


def test_the_engine_knows_better_than_the_estimate(chat: Chat) -> None:
    chat.controller.parameters.change(overflow=ContextPolicy.SUMMARISE)
    chat.say("one", "first")
    chat.say("two", "second")
    ask(chat, "three")
    assert not is_summary(chat)
    chat.engine.asked.fail("context-exceeded")
    assert is_summary(chat)
    summarise(chat)
    assert contents(chat)[-1] == "three"
    assert "They spoke of words." in contents(chat)[0]
    answer(chat)
    assert (chat.rows[-1].status, chat.rows[-1].error) == (Status.DONE, None)


def test_a_question_that_is_too_long_alone_is_refused(chat: Chat) -> None:
    chat.controller.parameters.change(overflow=ContextPolicy.SUMMARISE)
    ask(chat, "x" * 50_000)
    assert not is_summary(chat)
    chat.engine.asked.fail("context-exceeded", "It is too long.")
    chat.database.drain()
    assert chat.rows[-1].status is Status.FAILED


def test_other_policies_ask_for_no_summary(full: Chat) -> None:
    for policy, overflow in ((ContextPolicy.STOP, Overflow.STOP), (ContextPolicy.SHIFT, Overflow.SHIFT)):
        full.controller.parameters.change(overflow=policy)
        ask(full)
        assert (is_summary(full), full.engine.asked.overflow) == (False, overflow)
        answer(full)


def test_one_long_message_is_shortened_for_the_summary(chat: Chat) -> None:
    chat.engine.set_model(model_info(n_ctx=32768))
    chat.controller.parameters.change(overflow=ContextPolicy.SUMMARISE)
    chat.say("x" * 40_000, "y")
    chat.engine.set_model(model_info(n_ctx=1024))
    ask(chat)
    assert is_summary(chat)
    assert sum(map(len, contents(chat))) < 1024 * 4
    summarise(chat)
    assert contents(chat)[-1] == "last"


def test_in_a_temporary_conversation_nothing_is_written(chat: Chat) -> None:
    chat.controller.new_conversation(temporary=True)
    chat.controller.parameters.change(overflow=ContextPolicy.SUMMARISE)
    chat.say(f"one {LONG}" * 4, "first")
    chat.engine.set_model(model_info(n_ctx=1024))
    ask(chat)
    assert (is_summary(chat), chat.engine.asked.conversation) == (True, "")
    summarise(chat)
    answer(chat)
    assert any(row.summary for row in chat.rows)
    assert chat.on_disk() == []
