"""A summary of the conversation's beginning, in the user's hands."""

from __future__ import annotations

import pytest

from app.chat.chat_notices import SUMMARY
from app.chat.context_use import context_use
from app.chat.rows import MessageRow
from app.chat.summaries import LEAD
from app.chat.summary_care import SummaryCare
from app.chat.summary_request import SUMMARISING
from engine.protocol.frames import Progress
from engine.protocol.types import FinishReason
from tests.app.chat.conftest import Chat
from tests.app.chat.scripted_engine import model_info
from tests.app.chat.test_summaries import answer, ask, contents, is_summary, summarise


@pytest.fixture
def summarised(full: Chat) -> Chat:
    """Answered with a summary in place of the oldest turns."""
    ask(full)
    while is_summary(full):
        summarise(full)
    answer(full)
    return full


def care(chat: Chat) -> SummaryCare:
    return chat.controller.summaries


def where(chat: Chat) -> MessageRow:
    """The message that a prompt begins with now."""
    use = context_use(chat.rows, chat.controller.parameters.present, 1024)
    assert use.left_out
    return chat.rows[use.left_out]


def undo(chat: Chat) -> None:
    (action,) = next(notice for notice in reversed(chat.posted) if notice.key == SUMMARY).actions
    action.run()
    chat.database.drain()


def test_the_next_prompt_has_the_text_of_the_user(summarised: Chat) -> None:
    assert care(summarised).edit(where(summarised).id, " It was about birds. ")
    summarised.database.drain()
    assert where(summarised).summary == "It was about birds."
    ask(summarised, "and now?")
    assert contents(summarised)[0] == f"Be brief.\n\n{LEAD}\nIt was about birds."


def test_it_is_stored(summarised: Chat) -> None:
    message, conversation = where(summarised).id, summarised.current
    care(summarised).edit(message, "It was about birds.")
    summarised.database.drain()
    care(summarised).remove(message)
    summarised.database.drain()
    undo(summarised)
    summarised.controller.new_conversation()
    summarised.controller.open(conversation)
    summarised.database.drain()
    assert where(summarised).summary == "It was about birds."


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_is_not_taken(summarised: Chat, text: str) -> None:
    assert not care(summarised).edit(where(summarised).id, text)
    summarised.database.drain()
    assert where(summarised).summary == "They spoke of words."


def test_removed_the_turns_are_left_out_plainly(summarised: Chat) -> None:
    message = where(summarised).id
    care(summarised).remove(message)
    summarised.database.drain()
    assert (where(summarised).id, where(summarised).cut, where(summarised).summary) == (message, True, "")
    ask(summarised, "and now?")
    assert not is_summary(summarised)
    assert contents(summarised)[0] == "Be brief."
    assert not any(text.startswith("question 0") for text in contents(summarised))
    answer(summarised)
    undo(summarised)
    assert where(summarised).summary == "They spoke of words."


def test_removed_it_is_not_missed_by_the_next_one(summarised: Chat) -> None:
    care(summarised).remove(where(summarised).id)
    summarised.database.drain()
    ask(summarised, "more " * 600)
    assert is_summary(summarised)
    assert contents(summarised)[0] == "Be brief."
    assert not any(text.startswith("question 0") for text in contents(summarised))


def test_made_again_it_is_of_the_same_turns(summarised: Chat) -> None:
    message = where(summarised).id
    care(summarised).remake(message)
    summarised.database.drain()
    assert is_summary(summarised)
    assert contents(summarised)[0] == f"Be brief.\n\n{LEAD}\nThey spoke of words.", "of what was before the earlier one"
    assert [text[:10] for text in contents(summarised)[1:-1]] == ["question 1", "answer 1 w"]
    assert summarised.engine.asked.sampling.temperature > 0
    making = care(summarised).making
    assert making is not None
    assert (making.message, making.words) == (message, SUMMARISING)
    summarised.engine.asked.on_progress(Progress(id=summarised.engine.asked.id, stage="prompt", done=1, total=4))
    assert care(summarised).making == making._replace(words=f"{SUMMARISING}: 25 % read")
    assert where(summarised).summary == "They spoke of words."
    summarise(summarised, "In other words.")
    assert (where(summarised).summary, care(summarised).making) == ("In other words.", None)


def test_a_removed_one_can_be_made_again(summarised: Chat) -> None:
    message = where(summarised).id
    care(summarised).remove(message)
    care(summarised).remake(message)
    summarised.database.drain()
    summarise(summarised, "Anew.")
    assert (where(summarised).id, where(summarised).summary, where(summarised).cut) == (message, "Anew.", False)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("error", "The template is broken."),
        ("nothing", "The model wrote nothing."),
        ("cancelled", "The model was stopped before it had ended."),
    ],
)
def test_what_is_there_stays_when_no_other_is_made(summarised: Chat, how: str, why: str) -> None:
    care(summarised).remake(where(summarised).id)
    summarised.database.drain()
    if how == "error":
        summarised.engine.asked.fail("template-failed", "The template is broken.")
    else:
        summarised.engine.asked.finish(FinishReason.STOP if how == "nothing" else FinishReason.CANCELLED)
    summarised.database.drain()
    assert (where(summarised).summary, care(summarised).making) == ("They spoke of words.", None)
    assert f"{why} What is there stays." in summarised.posted[-1].text


def test_stop(summarised: Chat) -> None:
    posted = len(summarised.posted)
    care(summarised).remake(where(summarised).id)
    summarised.database.drain()
    first = summarised.engine.asked
    first.say("Half a ")
    care(summarised).stop()
    assert first.id in summarised.engine.log.cancelled
    care(summarised).remake(where(summarised).id)
    summarised.database.drain()
    first.finish(FinishReason.CANCELLED)
    assert care(summarised).making is not None, "the second one is still made"
    summarise(summarised, "Whole.")
    assert (where(summarised).summary, len(summarised.posted)) == ("Whole.", posted)


def test_stopped_before_the_engine_was_asked(summarised: Chat) -> None:
    asked = len(summarised.engine.log.generated)
    care(summarised).remake(where(summarised).id)
    care(summarised).stop()
    summarised.database.drain()
    assert (len(summarised.engine.log.generated), care(summarised).making) == (asked, None)


def test_without_a_model_it_is_told(summarised: Chat) -> None:
    message = where(summarised).id
    summarised.engine.set_model(None)
    care(summarised).remake(message)
    summarised.database.drain()
    assert care(summarised).making is None
    assert "No model is loaded" in summarised.posted[-1].text


def test_nothing_is_changed_while_an_answer_is_written(summarised: Chat) -> None:
    message = where(summarised).id
    ask(summarised, "and now?")
    asked = len(summarised.engine.log.generated)
    assert not care(summarised).edit(message, "other")
    care(summarised).remove(message)
    care(summarised).remake(message)
    summarised.database.drain()
    assert len(summarised.engine.log.generated) == asked
    answer(summarised)
    assert where(summarised).summary == "They spoke of words."


def test_another_conversation_is_opened_meanwhile(summarised: Chat) -> None:
    message, conversation = where(summarised).id, summarised.current
    care(summarised).remake(message)
    summarised.database.drain()
    summarised.controller.new_conversation()
    summarise(summarised, "In other words.")
    assert summarised.rows == ()
    summarised.controller.open(conversation)
    summarised.database.drain()
    assert where(summarised).summary == "In other words."


def test_in_a_longer_context_a_removed_one_leaves_nothing_out(summarised: Chat) -> None:
    care(summarised).remove(where(summarised).id)
    summarised.database.drain()
    summarised.engine.set_model(model_info(n_ctx=32768))
    ask(summarised, "and now?")
    assert contents(summarised)[1].startswith("question 0")
