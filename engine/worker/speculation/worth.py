"""Whether asking the draft model is worth its time, by the clock.

Each token that the draft model looks at costs time, also where it has no idea or its guess is wrong. Where the large
model is read from memory anyway, as on a desktop card beside a draft a tenth of its size, that is little; where both
compute on a processor it is a third of a token or more, and only text that is easy to guess pays for it. So time and
tokens are added up for calls with and without the draft model, and where it makes an answer slower it rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.worker.cancel import Stop
from engine.worker.speculation.drafter import Drafter

TRIAL: Final = 5
"""Calls that are looked at before a verdict at the beginning of an answer."""

SHORT_TRIAL: Final = 2
"""The same after a rest."""

FIRST_REST: Final = 16
"""Calls of the first rest. Each further one is twice as long."""

LONGEST_REST: Final = 64

DEAR: Final = 0.1
"""A draft model that takes more than this share of a rest to read what was written meanwhile is not asked again in the
answer. On a GPU that is one short call; a processor reads hardly faster than it writes."""

FEW_ANSWERS: Final = 4
"""Answers without the draft model after one that gave it up; twice as many after the next one that does."""

MOST_ANSWERS: Final = 32

FADE: Final = 0.9
"""What a call still counts for after the next one."""


@dataclass
class _Pace:
    """Seconds and tokens of late."""

    seconds: float = 0.0
    tokens: float = 0.0
    calls: int = 0

    def add(self, seconds: float, tokens: int) -> None:
        self.seconds = FADE * self.seconds + seconds
        self.tokens = FADE * self.tokens + tokens
        self.calls += 1

    @property
    def each(self) -> float:
        """Seconds for a token."""
        return self.seconds / self.tokens


class Worth:
    """Compares an answer's calls with and without the draft model. Another one for each answer.

    A call lasts from its beginning to that of the next one; so choosing, text and waiting for a GPU are in it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._with, self._without = _Pace(), _Pace()
        self._begin: float | None = None
        self._written = 0
        self._drafting: float | None = None
        """Seconds that the draft model took in this call; None: it was not asked."""

        self._catches_up = True
        """The draft model has not read the text before this call yet: at the beginning, and after a rest."""

        self.gave_up = False
        """It is not asked again in this answer."""

        self._guessed = self._is_dear = False
        self._trial, self._rest, self._left = TRIAL, 0, 0

    @property
    def wanted(self) -> bool:
        """Whether to ask it in this call. The first one is made without it, to compare with."""
        return not (self._left or self.gave_up) and self._without.calls > 0

    def begin(self, written: int) -> None:
        """A call begins; so many tokens are chosen. The one before has ended."""
        now = self._clock()
        if self._begin is not None and written > self._written:
            self._end(now - self._begin, written - self._written)
        self._begin, self._written, self._drafting, self._guessed = now, written, None, False

    def asked(self, seconds: float) -> None:
        """The draft model was asked in this call and took so long."""
        self._drafting = seconds

    def computes(self, *, guessed: bool) -> None:
        """The call is made now. With a guess that the draft model had no part in it is no measure of either way."""
        self._guessed = guessed
        if guessed and self._drafting is None:
            self._begin = None

    def interrupted(self) -> None:
        """What follows does not belong to this call."""
        self._begin = None

    def _end(self, seconds: float, tokens: int) -> None:
        if self._drafting is None:
            self._without.add(seconds, tokens)
            self._left = max(0, self._left - 1)
        elif self._catches_up:
            self._catches_up = False
            self._is_dear = self._rest > 0 and self._drafting > DEAR * self._rest * self._without.each
        else:
            self._end_asked(seconds, tokens, self._drafting)

    def _end_asked(self, seconds: float, tokens: int, drafting: float) -> None:
        self._with.add(seconds, tokens)
        if not self._guessed:
            self._without.add(max(0.0, seconds - drafting), tokens)
        if self._with.calls < self._trial:
            return
        if self._with.each <= self._without.each:
            self._trial = TRIAL
        elif self._is_dear:
            self.gave_up = True
        else:
            self._take_rest()

    def _take_rest(self) -> None:
        self._rest = min(LONGEST_REST, 2 * self._rest) if self._rest else FIRST_REST
        self._left, self._catches_up = self._rest, True
        self._with, self._trial = _Pace(), SHORT_TRIAL


class Patience:
    """For how many answers a draft model is left alone that answers gave up.

    It would have to read all that was said meanwhile, and that can take longer than it ever spares.
    """

    def __init__(self) -> None:
        self._last: Worth | None = None
        self._length = self._left = 0

    def worth(self) -> Worth | None:
        """For the answer that begins; None: leave the draft model alone."""
        if self._last is not None:
            self._length = min(MOST_ANSWERS, 2 * self._length or FEW_ANSWERS) if self._last.gave_up else 0
            self._left, self._last = self._length, None
        if self._left:
            self._left -= 1
            return None
        self._last = Worth()
        return self._last


class Weighed:
    """A drafter that is asked only while that is `Worth` it."""

    def __init__(self, drafter: Drafter, worth: Worth, clock: Callable[[], float] = time.monotonic) -> None:
        self._drafter, self._worth, self._clock = drafter, worth, clock

    def forget(self) -> None:
        """As the drafter."""
        self._drafter.forget()

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        """Its guess; none while it rests."""
        if not self._worth.wanted:
            return []
        begin = self._clock()
        guess = self._drafter.draft(tokens, last, most, stop)
        self._worth.asked(self._clock() - begin)
        return guess
