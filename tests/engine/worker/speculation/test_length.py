"""How far a guess reaches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.speculation.length import FIRST, LONGEST_REST, GuessLength


def test_it_grows_while_guesses_are_right() -> None:
    length = GuessLength(1, 16)
    assert length.next(100) == FIRST
    for expected in (8, 16, 16):
        length.judged(length.next(100), length.next(100))
        assert length.next(100) == expected


def test_it_shrinks_to_what_was_right() -> None:
    length = GuessLength(1, 16)
    length.judged(4, 2)
    assert length.next(100) == 3


def test_it_rests_longer_and_longer_after_misses() -> None:
    length, rests = GuessLength(1, 8), []
    for _ in range(9):
        waited = 0
        while not length.next(100):
            waited += 1
        rests.append(waited)
        length.judged(1, 0)
    assert rests == [0, 0, 2, 4, 8, 16, 32, 32, 32]
    assert max(rests) == LONGEST_REST
    while not length.next(100):
        pass
    length.judged(1, 1)
    assert length.next(100) == 2


@given(st.integers(1, 8), st.integers(0, 8), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 64))))
def test_a_guess_keeps_to_its_limits(least: int, more: int, rounds: list[tuple[int, int]]) -> None:
    length = GuessLength(least, least + more)
    for room, right in rounds:
        wanted = length.next(room)
        assert wanted == 0 or least <= wanted <= min(room, least + more)
        if wanted:
            length.judged(wanted, min(right, wanted))
