"""Conversations as templates accept them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.protocol.types import ChatMessage
from engine.worker.messages import normalise, without_system

S, U, A = "system", "user", "assistant"


def chat(*pairs: tuple[str, str]) -> list[ChatMessage]:
    return [ChatMessage(role=role, content=content) for role, content in pairs]


def pairs(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ([(U, "one"), (A, ""), (U, "two")], [(U, "one\n\ntwo")]),
        ([(U, "one"), (U, "two")], [(U, "one\n\ntwo")]),
        ([(U, "a"), (A, "b"), (A, "c"), (U, "d")], [(U, "a"), (A, "b\n\nc"), (U, "d")]),
        ([(S, "p"), (S, "c"), (U, "a")], [(S, "p\n\nc"), (U, "a")]),
        ([(S, "old"), (U, "a"), (A, "b"), (S, "new"), (U, "c")], [(S, "new"), (U, "a"), (A, "b"), (U, "c")]),
        ([(A, "welcome"), (U, "a")], [(U, "a")]),
        ([(S, "  "), (U, " a ")], [(U, " a ")]),
    ],
)
def test_flows(given_: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert pairs(normalise(chat(*given_))) == expected


@pytest.mark.parametrize("messages", [[], [(U, "")], [(U, " \n")], [(U, "a"), (A, "b")], [(S, "x")]])
def test_nothing_to_answer(messages: list[tuple[str, str]]) -> None:
    with pytest.raises(VrambleError) as caught:
        normalise(chat(*messages))
    assert caught.value.code == "empty-prompt"


def test_an_unknown_role() -> None:
    with pytest.raises(VrambleError, match="'tool'"):
        normalise(chat(("tool", "x"), (U, "a")))


def test_system_text_in_front_of_the_first_question() -> None:
    assert pairs(without_system(chat((S, "be brief"), (U, "a"), (A, "b"), (U, "c")))) == [
        (U, "be brief\n\na"),
        (A, "b"),
        (U, "c"),
    ]


MESSAGES = st.lists(st.tuples(st.sampled_from([S, U, A]), st.text(max_size=5)), max_size=12)


@given(MESSAGES, st.text(min_size=1).filter(str.strip))
def test_any_history_becomes_alternating(history: list[tuple[str, str]], question: str) -> None:
    result = pairs(normalise(chat(*history, (U, question))))
    turns = result[1:] if result[0][0] == S else result
    assert [role for role, _ in turns] == [U, A] * (len(turns) // 2) + [U]
    assert all(content.strip() for _, content in result)
    assert turns[-1][1].endswith(question)


@given(MESSAGES, st.text(min_size=1).filter(str.strip))
def test_normalising_twice_changes_nothing(history: list[tuple[str, str]], question: str) -> None:
    once = normalise(chat(*history, (U, question)))
    assert normalise(once) == once
