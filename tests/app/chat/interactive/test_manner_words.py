"""``/set``: names, values, and what they become."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.manner_words import NAMES, changed, full_name, listed, shown
from app.chat.talk import Manner
from engine.errors import VrambleError
from engine.protocol.types import Sampling


def test_every_sampling_parameter_can_be_set_or_belongs_to_the_command_line() -> None:
    left_out = set(Sampling.__struct_fields__) - set(NAMES)
    assert left_out == {"logit_bias", "dry_sequence_breakers"}


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("--temp", "0", "0"),
        ("Top-P", "0.5", "0.5"),
        ("repeat_last_n", "-1", "-1"),
        ("seed", "7", "7"),
        ("seed", "none", "none"),
        ("max-tokens", "12", "12"),
        ("max_tokens", "none", "none"),
        ("stop", "END", "END"),
        ("reasoning", "ON", "on"),
        ("reasoning-budget", "100", "100"),
        ("reasoning_budget", "-1", "none"),
        ("grammar", 'root ::= "a"', 'root ::= "a"'),
        ("json_schema", "{}", "{}"),
        ("prefill", "Well", "Well"),
        ("system", "none", "none"),
    ],
)
def test_values_read_back_as_they_were_set(name: str, value: str, read: str) -> None:
    assert shown(changed(Manner(), name, value), name) == read


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", "warm"),
        ("temperature", "nan"),
        ("temperature", "-1"),
        ("top_k", "1.5"),
        ("mirostat", "3"),
        ("seed", "-1"),
        ("max_tokens", "0"),
        ("reasoning", "perhaps"),
        ("json_schema", '{"type": "strang"}'),
        ("messages", "x"),
        ("", "x"),
    ],
)
def test_what_cannot_be_meant(name: str, value: str) -> None:
    with pytest.raises(VrambleError):
        changed(Manner(), name, value)


def test_a_schema_takes_the_place_of_a_grammar() -> None:
    manner = changed(changed(Manner(), "grammar", 'root ::= "a"'), "json_schema", "{}")
    assert (manner.sampling.grammar, manner.sampling.json_schema) == ("", "{}")


def test_the_list_has_every_name_and_marks_changes() -> None:
    lines = listed(changed(Manner(), "top_k", "7")).splitlines()
    assert [line[2:].split()[0] for line in lines] == list(NAMES)
    assert [line for line in lines if line.startswith("*")] == [next(line for line in lines if "top_k" in line)]


@given(st.sampled_from(NAMES), st.text(min_size=1))
def test_any_text_is_taken_or_refused_with_a_sentence(name: str, value: str) -> None:
    manner = Manner()
    with contextlib.suppress(VrambleError):
        manner = changed(manner, name, value)
    assert shown(manner, full_name(name))
