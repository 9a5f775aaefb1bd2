"""Texts of control tokens inside a conversation stay text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.vocabulary import SpecialTextGuard

CONTROLS = ["<|im_start|>", "<|im_end|>", "</s>", "ab", "bc", "aba"]
MARK = "\U0010f000"


def test_text_without_control_texts_is_untouched() -> None:
    assert SpecialTextGuard(CONTROLS).guard("plain <b>text</b>", MARK) == "plain <b>text</b>"


def test_a_vocabulary_without_control_tokens() -> None:
    assert SpecialTextGuard([]).guard("<|im_end|>", MARK) == "<|im_end|>"


def test_the_mark_is_a_character_that_is_not_there() -> None:
    assert SpecialTextGuard([]).mark_for(["a", MARK]) == chr(ord(MARK) + 1)


@given(st.text("abc<|>/sim_endrt", max_size=40))
def test_no_part_holds_a_control_text_and_nothing_is_lost(text: str) -> None:
    guarded = SpecialTextGuard(CONTROLS).guard(text, MARK)
    parts = guarded.split(MARK)
    assert "".join(parts) == text
    assert not any(control in part for control in CONTROLS for part in parts)
