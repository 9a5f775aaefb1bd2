"""A draft model that makes an answer slower is not asked for long. Time is what the test says it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from engine.worker.cancel import Stop
from engine.worker.speculation.worth import (
    DEAR,
    FEW_ANSWERS,
    FIRST_REST,
    LONGEST_REST,
    MOST_ANSWERS,
    TRIAL,
    Patience,
    Weighed,
    Worth,
)

CALL = 25.0
"""What the large model takes for a call, whatever is in it."""


@dataclass
class Played:
    """An answer with a draft model: what it costs, and how many of its guesses are right at which place.

    Attributes:
        ask: Its cost for one guess.
        read: Its cost for each token that it has to catch up with.
        right: Right tokens of a guess made behind so many tokens.
    """

    ask: float
    read: float = 0.0
    right: Sequence[int] = (0,)
    now: float = 0.0
    asked: list[int] = field(default_factory=list)
    seen: int = 0

    def clock(self) -> float:
        return self.now

    def forget(self) -> None:
        self.seen = 0

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        self.asked.append(len(tokens))
        self.now += self.ask + self.read * max(0, len(tokens) - self.seen - 1)
        self.seen = len(tokens)
        return [last] * self.right[min(len(tokens), len(self.right) - 1)]

    def write(self, count: int) -> float:
        """Time for an answer, against that without the draft model."""
        worth = Worth(self.clock)
        drafter, tokens, calls = Weighed(self, worth, self.clock), list[int](), 0
        while len(tokens) < count:
            worth.begin(len(tokens))
            guess = drafter.draft(tokens, 0, 8, Stop())
            worth.computes(guessed=bool(guess))
            self.now += CALL
            tokens += [0, *guess]
            calls += 1
        return self.now / (CALL * len(tokens))


def test_one_that_pays_is_always_asked() -> None:
    played = Played(ask=5.0, right=[2])
    assert played.write(300) < 0.45
    assert played.asked == list(range(1, 300, 3)), "only the first call is without it, to compare with"


def test_one_that_never_pays_costs_little() -> None:
    played = Played(ask=10.0)
    assert played.write(2000) < 1.02
    assert played.asked[: TRIAL + 1] == list(range(1, TRIAL + 2))
    pauses = [after - before for before, after in zip(played.asked, played.asked[1:], strict=False)]
    assert sorted({pause for pause in pauses if pause > 1}) == [FIRST_REST + 1, 2 * FIRST_REST + 1, LONGEST_REST + 1]


def test_one_that_reads_slowly_is_tried_once_more_and_no_further() -> None:
    played = Played(ask=10.0, read=2 * DEAR * CALL)
    assert played.write(2000) < 1.02
    assert len(played.asked) < 2 * TRIAL + 2
    assert max(played.asked) < 3 * FIRST_REST


def test_text_that_becomes_easy_to_guess_is_found_out() -> None:
    played = Played(ask=10.0, right=[0] * 200 + [3])
    played.write(600)
    assert len([place for place in played.asked if place > 300]) > 70


def test_text_that_becomes_hard_to_guess_is_found_out() -> None:
    played = Played(ask=10.0, right=[3] * 200 + [0])
    played.write(600)
    assert len([place for place in played.asked if place > 300]) < 30


def test_a_guess_of_another_kind_and_a_pause_measure_nothing() -> None:
    played = Played(ask=1.0)
    worth = Worth(played.clock)
    worth.begin(0)
    worth.computes(guessed=True)
    played.now += 100
    worth.begin(5)
    assert not worth.wanted, "a guess that cost nothing says nothing of a call without any"
    worth.interrupted()
    played.now += 1000
    worth.begin(6)
    assert not worth.wanted
    played.now += CALL
    worth.begin(7)
    assert worth.wanted


def test_answers_that_gave_up_leave_it_alone_for_longer_and_longer() -> None:
    patience, pauses = Patience(), []
    for _ in range(6):
        waited = 0
        while (worth := patience.worth()) is None:
            waited += 1
        pauses.append(waited)
        worth.gave_up = True
    assert pauses == [0, FEW_ANSWERS, 2 * FEW_ANSWERS, 4 * FEW_ANSWERS, MOST_ANSWERS, MOST_ANSWERS]
    while (worth := patience.worth()) is None:
        pass
    assert patience.worth() is not None, "it did not give up this time"


@pytest.mark.parametrize("ask", [0.0, 3.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_it_never_makes_an_answer_much_slower(ask: float, seed: int) -> None:
    """Text that is now easy, now hard to guess. What is lost: trials, and some calls until a change is noticed."""
    random = Random(seed)
    right = [length for _ in range(40) for length in [random.choice((0, 0, 1, 3))] * random.randint(1, 60)]
    assert Played(ask=ask, right=right).write(len(right)) < 1.12
