"""Thought and answer apart, wherever the stream is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.worker.thinking.channels import ChannelParser
from engine.worker.thinking.parser import PairParser, Parser
from engine.worker.thinking.tags import ANSWER_CHANNEL, PAIRS, THOUGHT_CHANNEL, Channels, Tags, ThoughtMarks

MakeParser = Callable[[], Parser]


def channels() -> Parser:
    return ChannelParser(Channels())


def run(parser: Parser, pieces: Sequence[str]) -> tuple[str, str]:
    splits = [*(parser.feed(piece) for piece in pieces), parser.flush()]
    return "".join(split.thought for split in splits), "".join(split.answer for split in splits)


THOUGHT = "<|channel|>analysis<|message|>"
TEXTS: list[tuple[MakeParser, str, str, str]] = [
    (PairParser, "<think>plan</think>\n\nAnswer", "plan", "Answer"),
    (PairParser, "\n <think>\n\nplan\nb\n</think>Answer\n", "plan\nb", "Answer\n"),
    (PairParser, "<think></think>a", "", "a"),
    (PairParser, "<think>\n\n</think>\n\na", "", "a"),
    (PairParser, "[THINK]p[/THINK]a", "p", "a"),
    (PairParser, "<|START_THINKING|>p<|END_THINKING|>a", "p", "a"),
    (PairParser, "<|channel>thought\np<channel|>a", "p", "a"),
    (PairParser, "<thinking>p</thinking> a <think>x</think>", "p", "a <think>x</think>"),
    (PairParser, "close with `</think>` then</think>Done", "", "close with `</think>` then</think>Done"),
    (PairParser, "<think>close with `</think>` then</think>Done", "close with `", "` then</think>Done"),
    (PairParser, "x <think>y</think>", "", "x <think>y</think>"),
    (PairParser, "```\n<think>x</think>\n```", "", "```\n<think>x</think>\n```"),
    (PairParser, "<think>long", "long", ""),
    (PairParser, "<think>long\n</thi", "long\n</thi", ""),
    (PairParser, "<THINK>p</THINK>", "", "<THINK>p</THINK>"),
    (PairParser, "<thin", "", "<thin"),
    (PairParser, " \n ", "", " \n "),
    (PairParser, "", "", ""),
    (PairParser, "<think", "", "<think"),
    (lambda: PairParser(opened=PAIRS[0]), "plan</think>\n\nAnswer", "plan", "Answer"),
    (lambda: PairParser(opened=PAIRS[0]), "plan", "plan", ""),
    (lambda: PairParser(answering=True), "<think>x</think>", "", "<think>x</think>"),
    (
        channels,
        "<|channel|>analysis<|message|>p<|end|><|start|>assistant<|channel|>final<|message|>a<|return|>",
        "p",
        "a<|return|>",
    ),
    (channels, "<|channel|>analysis<|message|>p", "p", ""),
    (channels, "<|channel|>anal", "", ""),
    (channels, " <|channel|>final<|message|>a", "", "a"),
    (channels, "plain", "", "plain"),
    (
        channels,
        f"{THOUGHT}p<|end|><|start|>assistant{THOUGHT}q<|end|><|start|>assistant<|channel|>final<|message|>a",
        "p\n\nq",
        "a",
    ),
    (channels, "<|channel|>final<|message|>a<|end|><|start|>user<|message|>b", "", "a"),
    (channels, "<|channel|>commentary to=x <|constrain|>json<|message|>{}", "", "{}"),
    (lambda: ChannelParser(Channels(), THOUGHT_CHANNEL), "p<|end|><|channel|>final<|message|>a", "p", "a"),
    (lambda: ChannelParser(Channels(), ANSWER_CHANNEL), "a", "", "a"),
]


@pytest.mark.parametrize(
    ("make", "text", "thought", "answer"), TEXTS, ids=lambda it: None if callable(it) else str(it)[:40]
)
def test_every_cut_gives_the_same(make: MakeParser, text: str, thought: str, answer: str) -> None:
    assert run(make(), list(text)) == (thought, answer)
    for at in range(len(text) + 1):
        assert run(make(), [text[:at], text[at:]]) == (thought, answer)


@given(st.data())
def test_any_thought_and_answer_in_any_pieces(data: st.DataObject) -> None:
    pair = data.draw(st.sampled_from(PAIRS))
    inside = st.text(st.sampled_from("ab <>/|[]thinkTHINK\n`é"), max_size=30)
    thought = data.draw(inside.filter(lambda text: pair.close not in text + pair.close[:-1]))
    answer = data.draw(inside)
    text = f"{pair.open}{thought}{pair.close}{answer}"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert run(PairParser(), pieces) == (thought.strip(), answer.lstrip())


@given(st.text(st.sampled_from("<think>/ \n|channelmsg"), max_size=60), st.integers(1, 9))
def test_nothing_is_lost(text: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    thought, answer = run(PairParser(), pieces)
    if not text.lstrip().startswith(tuple(pair.open for pair in PAIRS)):
        assert not thought
        assert answer == text


@pytest.mark.parametrize("size", [1, 3])
def test_no_part_of_a_tag_is_ever_shown(size: int) -> None:
    text = "<think>plan</think>Answer"
    parser, shown = PairParser(), ""
    for start in range(0, len(text), size):
        split = parser.feed(text[start : start + size])
        shown += split.thought + split.answer
        assert "<" not in shown


def test_the_states_on_the_way() -> None:
    parser = PairParser()
    seen = []
    for piece in ("", "<think>", "p", "</think>", "\n", "a"):
        parser.feed(piece)
        seen.append((parser.thinking, parser.answering))
    assert seen == [(False, False), (True, False), (True, False), (False, True), (False, True), (False, True)]


def test_the_states_on_channels() -> None:
    parser = ChannelParser(Channels())
    seen = []
    for piece in (
        "",
        "<|channel|>",
        "analysis<|message|>",
        "p",
        "<|end|>",
        "<|start|>assistant",
        "<|channel|>final<|message|>",
    ):
        parser.feed(piece)
        seen.append((parser.thinking, parser.answering))
    assert seen == [(False, False), *[(True, False)] * 5, (False, True)]
    assert not parser.over
    parser.feed("a<|end|>")
    assert parser.over


class Words:
    """A vocabulary of whole words; the ones in ``hidden`` are control tokens."""

    def __init__(self, *words: str, hidden: Sequence[str] = ()) -> None:
        self._words, self._hidden = words, hidden

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        tokens = []
        while text:
            found = next((at for at, word in enumerate(self._words) if text.startswith(word)), None)
            if found is not None and special:
                tokens.append(found)
            text = text[1:] if found is None else text.removeprefix(self._words[found])
        return tokens

    def text(self, token: int) -> str:
        return self._words[token]

    def piece(self, token: int) -> bytes | None:
        return b"" if self._words[token] in self._hidden else self._words[token].encode()


def test_tags_that_are_shown_tokens_need_no_marks() -> None:
    marks = ThoughtMarks.of(Words("<think>", "</think>"))
    assert (marks.pairs, marks.channels, marks.of_token) == (PAIRS, None, {})


def test_tags_that_are_never_shown_get_marks() -> None:
    words = Words("[THINK]", "[/THINK]", "x", hidden=["[THINK]", "[/THINK]"])
    marks = ThoughtMarks.of(words)
    pair = Tags(marks.of_token[0], marks.of_token[1])
    assert pair in marks.pairs
    assert run(PairParser(marks.pairs), [pair.open, "p [/THINK]", pair.close, "a"]) == ("p [/THINK]", "a")
    assert marks.spelled(f"{pair.close}\n", words) == "[/THINK]\n"
    assert marks.plain(f"a{pair.open}é") == "aé"


def test_a_tag_that_is_a_token_and_a_word() -> None:
    marks = ThoughtMarks.of(Words("<|channel>", "<channel|>", hidden=["<|channel>", "<channel|>"]))
    opened, closed = marks.of_token[0], marks.of_token[1]
    assert run(PairParser(marks.pairs), [opened, "thought", "\np", closed, "a"]) == ("p", "a")


def test_channels_are_known_by_their_tokens() -> None:
    names = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
    marks = ThoughtMarks.of(Words(*names, hidden=names))
    assert marks.channels is not None
    start, channel, message, end = (marks.of_token[token] for token in range(4))
    pieces = [channel, "analysis", message, "p <|end|> q", end, start, "assistant", channel, "final", message, "a"]
    assert run(ChannelParser(marks.channels), pieces) == ("p <|end|> q", "a")
    assert ThoughtMarks.of(Words("<|end|>", hidden=["<|end|>"])).of_token == {}
    shown = ThoughtMarks.of(Words(*names, hidden=["<|end|>"]))
    assert shown == marks, "llama.cpp shows most of these tokens"
