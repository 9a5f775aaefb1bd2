"""Biases as text, and that they outlive the program with the conversation."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.constraints import bias_text, biases_in, problem_of
from app.chat.parameters import decoded, encoded, fitting
from app.chat.settings import ChatSettings
from engine.errors import VrambleError
from engine.protocol.types import LogitBias
from tests.app.chat.conftest import Chat

BIASES = st.dictionaries(st.integers(0, 999_999_999), st.integers(-4000, 4000).map(lambda number: number / 4))


@given(BIASES)
def test_text_and_back(biases: dict[int, float]) -> None:
    records = tuple(LogitBias(token, bias) for token, bias in biases.items())
    assert biases_in(bias_text(records)) == records


@pytest.mark.parametrize("text", ["x", "1", "-1: 2", "1: 2: 3", "1: 2000", "1: nan", "1,5: 2"])
def test_what_is_no_bias(text: str) -> None:
    with pytest.raises(VrambleError) as caught:
        biases_in(text)
    assert "Line 1" in caught.value.message


@given(st.text())
def test_any_text_is_read_or_told(text: str) -> None:
    with contextlib.suppress(VrambleError):
        biases_in(text)
    for field in ("grammar", "json_schema"):
        assert isinstance(problem_of(ChatSettings(**{field: text}), field), str)  # type: ignore[arg-type]


def test_they_are_kept_with_the_conversation(chat: Chat) -> None:
    chat.controller.parameters.change(logit_bias=(LogitBias(5, -1.5),), grammar='root ::= "a"')
    chat.say("one", "a")
    assert chat.engine.asked.sampling.logit_bias == (LogitBias(5, -1.5),)
    assert chat.engine.asked.sampling.grammar == 'root ::= "a"'
    own = chat.controller.parameters.own
    assert own["logit_bias"] == [{"token": 5, "bias": -1.5}]
    assert decoded(encoded(own)) == own == fitting(own)
