"""Stop strings across the borders of tokens."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.worker.stops import StopMatcher


def run(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    matcher = StopMatcher(stops)
    shown = "".join(matcher.feed(piece) for piece in pieces)
    return (shown, True) if matcher.matched else (shown + matcher.flush(), False)


def test_the_earliest_in_the_text_wins_not_in_the_list() -> None:
    assert run(["world", "hello"], [" hello world"]) == (" ", True)


def test_an_empty_stop_string_stops_nothing() -> None:
    assert run(["", ""], ["a", "b"]) == ("ab", False)


def test_across_pieces() -> None:
    assert run(["</s>"], ["a<", "/", "s", ">b"]) == ("a", True)


def test_a_beginning_is_held_back_and_given_when_it_was_none() -> None:
    matcher = StopMatcher(["END"])
    assert matcher.feed("the E") == "the "
    assert matcher.feed("N") == ""
    assert matcher.feed("Q") == "ENQ"


def test_a_held_beginning_is_flushed() -> None:
    assert run(["END"], ["the EN"]) == ("the EN", False)


def test_nothing_comes_after_a_match() -> None:
    matcher = StopMatcher(["x"])
    assert matcher.feed("ax") == "a"
    assert matcher.feed("more") == ""
    assert matcher.flush() == ""


@pytest.mark.parametrize("pieces", [["abcd"], ["a", "b", "c", "d"], ["ab", "cd"]])
def test_the_first_complete_match_wins_for_every_cut(pieces: list[str]) -> None:
    assert run(["abcd", "bc"], pieces) == ("a", True)


TEXT = st.text("ab<", max_size=30)


@given(st.lists(st.text("ab<", max_size=4), max_size=4), TEXT, st.lists(st.integers(0, 30), max_size=8))
def test_the_result_does_not_depend_on_the_cut(stops: list[str], text: str, places: list[int]) -> None:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(bounds)]
    assert run(stops, pieces) == run(stops, list(text)) == run(stops, [text])


@given(st.lists(st.text("ab<", min_size=1, max_size=4), max_size=4), TEXT)
def test_what_is_shown_is_a_beginning_without_any_stop_string(stops: list[str], text: str) -> None:
    shown, matched = run(stops, list(text))
    assert text.startswith(shown)
    assert not any(stop in shown for stop in stops)
    assert matched == any(stop in text for stop in stops)
    assert matched or shown == text
