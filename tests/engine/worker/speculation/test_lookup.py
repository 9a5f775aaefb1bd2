"""What is guessed out of the conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.cancel import Stop
from engine.worker.speculation.lookup import SIZES, Lookup

TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=60)


def by_hand(told: list[int], most: int) -> list[int]:
    """The same without a table: what followed the last earlier place that reads like the end."""
    for size in SIZES:
        end = told[-size:]
        for place in range(len(told) - 2, size - 1, -1):
            if len(end) == size and told[place - size : place] == end:
                guess = list(told)
                while len(guess) < len(told) + most:
                    guess.append(guess[place + len(guess) - len(told)])
                return guess[len(told) :]
    return []


@given(TOKENS, st.integers(1, 20))
def test_the_guess_is_what_followed_before(told: list[int], most: int) -> None:
    assert Lookup().draft(told[:-1], told[-1], most, Stop()) == by_hand(told, most)


@given(TOKENS, st.integers(1, 8))
def test_a_table_that_grows_guesses_like_a_new_one(told: list[int], most: int) -> None:
    growing = Lookup()
    for length in range(1, len(told) + 1):
        part = told[:length]
        assert growing.draft(part[:-1], part[-1], most, Stop()) == by_hand(part, most)


def test_another_conversation_is_not_guessed_from() -> None:
    lookup = Lookup()
    assert lookup.draft([1, 2, 3, 4, 1, 2], 3, 2, Stop()) == [4, 1]
    lookup.forget()
    assert lookup.draft([7, 1, 2], 3, 2, Stop()) == []
