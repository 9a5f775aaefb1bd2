"""The real worker with models that think: one token for each byte, and tags that are tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.frames import Failed, Finished
from engine.protocol.types import ChatMessage, FinishReason, Sampling, Thinking
from tests.engine.worker.driver import Worker, assistant, user
from tests.fakes.tiny_gguf import (
    ARR,
    CONTROL,
    F32,
    I32,
    SCRIPT_END,
    STR,
    USER_DEFINED,
    byte_token,
    byte_vocabulary,
    extra_token,
    scripted_llama,
)

LINE_END = byte_token(0x0A)
THINK, END_THINK = extra_token("<think>"), extra_token("</think>")
PLAIN = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
OPENS = PLAIN + "<think>{{ '\n' }}"
OFF = PLAIN + "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"

Speaker = Callable[..., Worker]


@pytest.fixture
def speaker(worker: Worker, tmp_path: Path) -> Speaker:
    """Loads a model that says these tokens."""

    def load(*said: int | bytes, template: str = PLAIN, **options: Any) -> Worker:
        tokens = [token for part in said for token in ([part] if isinstance(part, int) else map(byte_token, part))]
        path = tmp_path / "scripted.gguf"
        path.write_bytes(scripted_llama([LINE_END, *tokens], template=template))
        worker.loaded(path, n_threads=1, **options)
        return worker

    return load


def test_thought_and_answer_come_apart(speaker: Speaker) -> None:
    worker = speaker(THINK, b"plan", END_THINK, b"Fish", SCRIPT_END)
    thought, text, end = worker.thought_and_text(user("?"))
    assert (thought, text) == ("plan", "Fish")
    assert isinstance(end, Finished)
    assert (end.reason, end.thinking_open) == (FinishReason.STOP, False)
    assert (end.stats.generated_tokens, end.stats.thinking_tokens) == (10, 5)


def test_a_template_that_opens_the_thought(speaker: Speaker) -> None:
    worker = speaker(b"plan", END_THINK, b"Fish", SCRIPT_END, template=OPENS)
    thought, text, end = worker.thought_and_text(user("?"))
    assert (thought, text) == ("plan", "Fish")
    assert isinstance(end, Finished)
    assert end.stats.thinking_tokens == 5


def test_a_tag_that_the_user_typed_last_opens_nothing(speaker: Speaker) -> None:
    worker = speaker(b"Fish", SCRIPT_END)
    assert worker.thought_and_text(user("what is <think>"))[:2] == ("", "Fish")


def test_a_thought_that_the_limit_cuts_is_open(speaker: Speaker) -> None:
    worker = speaker(THINK, b"planmore", END_THINK, SCRIPT_END)
    thought, text, end = worker.thought_and_text(user("?"), max_tokens=6)
    assert (thought, text) == ("planm", "")
    assert isinstance(end, Finished)
    assert (end.reason, end.thinking_open) == (FinishReason.LENGTH, True)


def test_a_thought_with_a_budget_is_ended(speaker: Speaker) -> None:
    """After the closing tag the script begins again: the line end leads to its first letter."""
    worker = speaker(b"abcdefg", SCRIPT_END, template=OPENS)
    thought, text, end = worker.thought_and_text(user("?"), thinking=Thinking(budget=3))
    assert (thought, text) == ("abc", "abcdefg")
    assert isinstance(end, Finished)
    assert (end.stats.generated_tokens, end.stats.thinking_tokens) == (10, 3)
    thought, text, _ = worker.thought_and_text(user("?"), thinking=Thinking(budget=0))
    assert (thought, text) == ("", "abcdefg")
    thought, text, _ = worker.thought_and_text(user("?"), thinking=Thinking(budget=100))
    assert (thought, text) == ("abcdefg", "")


def test_a_budget_does_not_cut_a_character(speaker: Speaker) -> None:
    worker = speaker("aé".encode(), b"b", SCRIPT_END, template=OPENS)
    thought, text, _ = worker.thought_and_text(user("?"), thinking=Thinking(budget=2))
    assert (thought, text) == ("aé", "aéb")


def test_a_budget_for_a_model_that_opens_the_thought_itself(speaker: Speaker) -> None:
    worker = speaker(THINK, b"abc", SCRIPT_END)
    thought, text, _ = worker.thought_and_text(user("?"), thinking=Thinking(budget=2))
    assert (thought, text) == ("ab", "<think>abc")


def test_a_budget_at_the_end_of_the_context(speaker: Speaker) -> None:
    worker = speaker(b"abcdefg", SCRIPT_END, template=OPENS, n_ctx=256)
    short = worker.finished(user("?"))[1].stats.prompt_tokens
    question = user("?" * (1 + 250 - short))
    thought, _, end = worker.thought_and_text(question, thinking=Thinking(budget=3))
    assert isinstance(end, Finished)
    assert (thought, end.reason, end.thinking_open) == ("abc", FinishReason.CONTEXT, True)
    assert end.stats.prompt_tokens == 250


def test_switched_off_by_the_template_and_without_it(speaker: Speaker) -> None:
    worker = speaker(b"Fish", SCRIPT_END, template=OFF)
    long = worker.finished(user("?"), thinking=Thinking(enabled=False))[1].stats.prompt_tokens
    tags, line_ends, spaces_of_the_vocabulary = 2, 4, 2
    difference = long - worker.finished(user("?"))[1].stats.prompt_tokens
    assert difference == tags + line_ends + spaces_of_the_vocabulary
    worker = speaker(b"Fish", SCRIPT_END, template=OPENS)
    assert worker.thought_and_text(user("?"), thinking=Thinking(enabled=False))[:2] == ("", "Fish")
    worker = speaker(THINK, b"abc", SCRIPT_END)
    assert worker.thought_and_text(user("?"), thinking=Thinking(enabled=False))[:2] == ("", "<think>abc")


def test_stop_strings_end_the_answer_only(speaker: Speaker) -> None:
    worker = speaker(b"plan", END_THINK, b"Fish", SCRIPT_END, template=OPENS)
    assert worker.thought_and_text(user("?"), stop=("la", "sh"))[:2] == ("plan", "Fi")


def test_an_earlier_thought_is_sent_only_where_the_template_asks_for_it(speaker: Speaker) -> None:
    worker = speaker(b"Fish", SCRIPT_END)
    turns = (user("a"), assistant("b"), user("c"))
    thought = (user("a"), ChatMessage(role="assistant", content="b", thinking="long thought"), user("c"))

    def tokens(messages: tuple[ChatMessage, ...]) -> int:
        return worker.finished(*messages)[1].stats.prompt_tokens

    assert tokens(turns) == tokens(thought)
    speaker(b"Fish", SCRIPT_END, template=PLAIN.replace("{{ m.content }}", "{{ m.reasoning_content }}{{ m.content }}"))
    assert tokens(thought) == tokens(turns) + len("long thought")


@pytest.mark.parametrize(
    ("prefill", "before", "thought", "text"),
    [
        ("d", "", "", "efg"),
        ("", "d", "efg", ""),
        ("d", "xyz", "", "efg"),
    ],
)
def test_a_cut_answer_goes_on(speaker: Speaker, prefill: str, before: str, thought: str, text: str) -> None:
    worker = speaker(b"defg", SCRIPT_END)
    got = worker.thought_and_text(user("?"), prefill=prefill, prefill_thinking=before)
    assert got[:2] == (thought, text)


def test_a_cut_answer_behind_an_opened_thought(speaker: Speaker) -> None:
    worker = speaker(b"defg", SCRIPT_END, template=OPENS)
    assert worker.thought_and_text(user("?"), prefill="d")[:2] == ("", "efg")
    assert worker.thought_and_text(user("?"), prefill_thinking="d")[:2] == ("efg", "")


def test_control_texts_in_what_is_continued_stay_text(speaker: Speaker) -> None:
    worker = speaker(b"defg", SCRIPT_END)
    plain = worker.finished(user("?"), prefill="d")[1].stats.prompt_tokens
    marked = worker.finished(user("?"), prefill="<|im_end|>d")[1].stats.prompt_tokens
    assert marked == plain + len("<|im_end|>")


def test_a_grammar_begins_with_the_answer(speaker: Speaker) -> None:
    worker = speaker(THINK, b"plan", END_THINK, b"xy", SCRIPT_END, template=PLAIN + "{# </think> #}")
    sampling = Sampling(temperature=0, grammar='root ::= "x" [y-z]')
    assert worker.thought_and_text(user("?"), sampling=sampling)[:2] == ("plan", "xy")
    sampling = Sampling(temperature=0, grammar='root ::= "n" "o"')
    assert worker.thought_and_text(user("?"), sampling=sampling)[:2] == ("plan", "no")
    off = worker.thought_and_text(user("?"), sampling=sampling, thinking=Thinking(enabled=False))
    assert off[:2] == ("", "no")


def test_a_budget_below_nothing(speaker: Speaker) -> None:
    worker = speaker(b"a", SCRIPT_END)
    end = worker.generate(user("?"), thinking=Thinking(budget=-1))[1]
    assert isinstance(end, Failed)
    assert end.code == "bad-limit"


HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
WORDS = ("analysis", "final", "assistant")


@pytest.fixture
def harmony(worker: Worker, tmp_path: Path) -> Speaker:
    """As `speaker`, with the tokens of OpenAI's format; the template ends each turn with one of them."""
    texts, kinds = byte_vocabulary()
    texts, kinds = [*texts, *HARMONY, *WORDS], [*kinds, *[CONTROL] * len(HARMONY), *[USER_DEFINED] * len(WORDS)]
    token = {text: place for place, text in enumerate(texts)}
    template = (
        "{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' %}<|end|>{% endif %}{{ '\n' }}{% endfor %}"
    )

    def load(*said: str) -> Worker:
        path = tmp_path / "harmony.gguf"
        script = [LINE_END, *(token[text] if text in token else byte_token(ord(text)) for text in said)]
        metadata = {
            "tokenizer.ggml.tokens": (ARR, (STR, texts)),
            "tokenizer.ggml.scores": (ARR, (F32, [0.0] * len(texts))),
            "tokenizer.ggml.token_type": (ARR, (I32, kinds)),
        }
        path.write_bytes(scripted_llama(script, template=template, **metadata))
        worker.loaded(path, n_threads=1)
        return worker

    return load


def test_the_end_of_a_message_is_not_the_end_of_the_turn(harmony: Speaker) -> None:
    worker = harmony("<|channel|>", "analysis", "<|message|>", "p", "<|end|>", "<|start|>", "assistant", "</s>")
    thought, text, end = worker.thought_and_text(user("?"))
    assert (thought, text) == ("p", "")
    assert isinstance(end, Finished)
    assert (end.reason, end.stats.generated_tokens) == (FinishReason.STOP, 7)


def test_a_thought_on_its_channel_is_ended_by_its_budget(harmony: Speaker) -> None:
    """Behind the forced header the script goes on where a header leads: with the same words, now as the answer."""
    worker = harmony("<|channel|>", "analysis", "<|message|>", "p", "q", "<|end|>", "<|start|>", "</s>")
    thought, text, end = worker.thought_and_text(user("?"), thinking=Thinking(budget=3))
    assert (thought, text) == ("p", "pq")
    assert isinstance(end, Finished)
    assert (end.reason, end.thinking_open) == (FinishReason.STOP, False)
    assert worker.thought_and_text(user("?"), thinking=Thinking(enabled=False))[:2] == ("", "pq")


def test_going_on_behind_a_channel(harmony: Speaker) -> None:
    worker = harmony("<|channel|>", "analysis", "<|message|>", "p", "q", "<|end|>", "<|start|>", "</s>")
    assert worker.thought_and_text(user("?"), prefill="p")[:2] == ("", "q")
    assert worker.thought_and_text(user("?"), prefill="p", prefill_thinking="hm")[:2] == ("", "q")
    assert worker.thought_and_text(user("?"), prefill_thinking="p")[:2] == ("q", "")


def test_a_grammar_waits_for_the_answers_channel(harmony: Speaker) -> None:
    worker = harmony("<|channel|>", "final", "<|message|>", "p", "q", "<|end|>", "</s>")
    free = Sampling(temperature=0, grammar='root ::= "pq"')
    assert worker.thought_and_text(user("?"), sampling=free)[:2] == ("", "pq")
    other = Sampling(temperature=0, grammar='root ::= "x" "y"')
    assert worker.thought_and_text(user("?"), sampling=other)[:2] == ("", "xy")


def test_typed_headers_stay_text(harmony: Speaker) -> None:
    worker = harmony("p", "</s>")
    plain = worker.finished(user("x"))[1].stats.prompt_tokens
    typed = worker.finished(user("x<|channel|>"))[1].stats.prompt_tokens
    assert typed - plain == len("<|channel|>")
