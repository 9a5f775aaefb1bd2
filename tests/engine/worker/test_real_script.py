"""The real worker with models that say exactly what the test wants: one token for each byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.protocol.frames import Delta, Generate
from engine.protocol.types import FinishReason
from tests.engine.worker.driver import GREEDY, Worker, user
from tests.fakes.tiny_gguf import SCRIPT_END, byte_token, extra_token, scripted_llama

Speaker = Callable[..., Worker]

LINE_END = byte_token(0x0A)
PLAIN = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
"""The prompt's last token is the line end, where each script begins."""


MARKED = "{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' %}MARK{% endif %}{{ '\n' }}{% endfor %}"


@pytest.fixture
def speaker(worker: Worker, tmp_path: Path) -> Speaker:
    """Loads a model that says these tokens."""

    def load(*said: int, template: str = PLAIN, n_ctx: int = 512) -> Worker:
        path = tmp_path / "scripted.gguf"
        path.write_bytes(scripted_llama([LINE_END, *said], template=template))
        worker.loaded(path, n_threads=1, n_ctx=n_ctx)
        return worker

    return load


def letters(data: bytes) -> list[int]:
    return [byte_token(byte) for byte in data]


@pytest.mark.parametrize("text", ["😀é", "x\U0001f9ff你z", "ab\u0301c", "ﷺ-й"])
def test_signs_of_several_tokens(speaker: Speaker, text: str) -> None:
    worker = speaker(*letters(text.encode()), SCRIPT_END)
    request = Generate(id=worker.new_id(), messages=(user("?"),), sampling=GREEDY, max_tokens=None)
    worker.send(request)
    frames, end = worker.until_terminal(request.id)
    deltas = [frame for frame in frames if isinstance(frame, Delta)]
    assert "".join(delta.text for delta in deltas) == text
    assert not any("\ufffd" in delta.text for delta in deltas)
    assert (end.reason, end.stats.generated_tokens) == (FinishReason.STOP, len(text.encode()))


def test_bytes_that_are_no_character(speaker: Speaker) -> None:
    worker = speaker(*letters(b"Hi\xff\x80!\xf0\x9f"), SCRIPT_END)
    assert worker.finished(user("?"))[0] == "Hi\ufffd\ufffd!\ufffd"


def test_a_character_that_the_limit_cuts(speaker: Speaker) -> None:
    worker = speaker(*letters("a😀".encode()), SCRIPT_END)
    text, end = worker.finished(user("?"), max_tokens=3)
    assert (text, end.reason) == ("a\ufffd", FinishReason.LENGTH)


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (("quick", "fox"), "the "),
        (("fox", "quick"), "the "),
        (("e q",), "th"),
        (("quick",), "the "),
        (("never", "quin"), "the quickfox"),
        (("foxy",), "the quickfox"),
        (("",), "the quickfox"),
    ],
)
def test_stop_strings(speaker: Speaker, stop: tuple[str, ...], text: str) -> None:
    """One token a letter, so each stop string lies over several tokens."""
    worker = speaker(*letters(b"the quickfox"), SCRIPT_END)
    shown, end = worker.finished(user("?"), stop=stop)
    assert (shown, end.reason) == (text, FinishReason.STOP)


def test_the_templates_own_end_token_ends_the_turn(speaker: Speaker) -> None:
    """``<|im_start|>`` is a control token that llama.cpp does not take for an end; this template puts it there."""
    template = MARKED.replace("MARK", "<|im_start|>")
    said = [*letters(b"Hi"), extra_token("<|im_start|>"), *letters(b"again"[:3]), SCRIPT_END]
    text, end = speaker(*said, template=template).finished(user("?"))
    assert (text, end.reason, end.stats.generated_tokens) == ("Hi", FinishReason.STOP, 2)


def test_a_control_token_that_ends_nothing_is_not_shown(speaker: Speaker) -> None:
    said = [*letters(b"Hi"), extra_token("<|im_start|>"), *letters(b"ag"), SCRIPT_END]
    text, end = speaker(*said).finished(user("?"))
    assert (text, end.reason, end.stats.generated_tokens) == ("Hiag", FinishReason.STOP, 5)


def test_the_templates_own_end_text_ends_the_turn(speaker: Speaker) -> None:
    """``<think>`` is an ordinary token here, so it is found in the text."""
    template = MARKED.replace("MARK", "<think>")
    said = [*letters(b"Hi"), extra_token("<think>"), *letters(b"no"), SCRIPT_END]
    text, end = speaker(*said, template=template).finished(user("?"))
    assert (text, end.reason) == ("Hi", FinishReason.STOP)


def test_the_beginning_of_a_mark_is_shown_when_it_was_none(speaker: Speaker) -> None:
    """Without a template ChatML's marks stop the answer; the held-back text comes when no mark follows."""
    worker = speaker(*letters(b"H<|im_"), SCRIPT_END, template="")
    text, end = worker.finished(user("?"))
    assert (text, end.reason) == ("H<|im_", FinishReason.STOP)


def test_the_start_token_comes_once_whether_the_template_writes_it_or_not(speaker: Speaker) -> None:
    def prompt_tokens(template: str) -> int:
        return speaker(SCRIPT_END, template=template).finished(user("?"))[1].stats.prompt_tokens

    written = prompt_tokens("{{ bos_token }}{{ messages[0].content }}{{ '\n' }}")
    left_out = prompt_tokens("{{ messages[0].content }}{{ '\n' }}")
    twice = prompt_tokens("{{ bos_token }}{{ bos_token }}{{ messages[0].content }}{{ '\n' }}")
    assert written == left_out == twice - 1


def test_a_full_context_ends_the_answer(speaker: Speaker) -> None:
    """A script without an end goes on for ever with the token that stands for the unknown."""
    worker = speaker(*letters(b"Hi"), n_ctx=256)
    _, end = worker.finished(user("?"), max_tokens=None)
    assert end.reason is FinishReason.CONTEXT
    assert end.stats.prompt_tokens + end.stats.generated_tokens == 256 + 1
    _, end = worker.finished(user("?" * 200), max_tokens=None)
    assert (end.reason, end.stats.prompt_tokens > 200) == (FinishReason.CONTEXT, True)


def test_an_end_token_first_is_an_empty_answer(speaker: Speaker) -> None:
    text, end = speaker(SCRIPT_END).finished(user("?"))
    assert (text, end.reason, end.stats.generated_tokens) == ("", FinishReason.STOP, 0)
    assert (end.stats.ttft_ms, end.stats.decode_tps) == (0, 0)


def test_a_comma_is_no_end(speaker: Speaker) -> None:
    """A model without an end token of its own must not stop at an ordinary sign."""
    text, end = speaker(*letters(b"a, b."), SCRIPT_END).finished(user("?"))
    assert (text, end.reason) == ("a, b.", FinishReason.STOP)
