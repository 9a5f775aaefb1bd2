"""How far a benchmark is, and how long it will still take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from engine.protocol.bench import BenchTest

LOAD_UNITS: Final = 400.0
GENERATED_UNITS: Final = 20.0
"""A generated token takes about as long as so many tokens of a prompt."""

EARLY: Final = 0.02
"""Below this share of the work nothing is said of the time."""


class Step(msgspec.Struct, frozen=True):
    """One request: without a variant the RAM is measured, without a test the variant is loaded.

    Attributes:
        number: Runs of this test since the load.
        turn: Which of all runs of the test it is.
    """

    variant: int | None = None
    test: BenchTest | None = None
    number: int = 0
    turn: int = 0

    @property
    def kind(self) -> tuple[int | None, BenchTest | None, bool]:
        """Steps of the same kind take about as long."""
        return self.variant, self.test, self.number > 0

    @property
    def units(self) -> float:
        """Work, in tokens of a prompt."""
        test = self.test
        if test is None:
            return LOAD_UNITS
        timed = test.prompt + GENERATED_UNITS * test.generated
        if self.number > 0:
            return timed
        return timed + test.depth + test.prompt + GENERATED_UNITS * (test.warm_up if test.generated else 0)


class Estimate:
    """Learns how long each kind of step takes; the others are guessed by their work."""

    def __init__(self, steps: Sequence[Step], clock: Callable[[], float]) -> None:
        self._left, self._clock = list(steps), clock
        self._all = sum(step.units for step in steps)
        self._took: dict[tuple[int | None, BenchTest | None, bool], float] = {}
        self._started = self._begun = clock()
        self._now: Step | None = None
        self._part = 0.0

    def begin(self, step: Step) -> None:
        """``step`` begins; what was planned before it does not happen any more."""
        kinds = [planned.kind for planned in self._left]
        if step.kind in kinds:
            del self._left[: kinds.index(step.kind) + 1]
        self._now, self._part, self._begun = step, 0.0, self._clock()

    def progress(self, done: int, total: int) -> None:
        """The step says how far it is."""
        self._part = min(1.0, done / total) if total > 0 else 0.0

    def end(self, step: Step) -> None:
        """``step`` ended."""
        self._took[step.kind] = self._clock() - self._begun
        self._now, self._part = None, 0.0

    @property
    def fraction(self) -> float:
        """Share of the work that is done, 0..1."""
        return 1 - self._left_units() / self._all if self._all else 1.0

    @property
    def seconds_left(self) -> float | None:
        """See `Course.seconds_left`."""
        done = self._all - self._left_units()
        if done < EARLY * self._all:
            return None
        rate = (self._clock() - self._started) / done
        seconds = sum(self._took.get(step.kind, step.units * rate) for step in self._left)
        if self._now is not None:
            seconds += (1 - self._part) * self._took.get(self._now.kind, self._now.units * rate)
        return seconds

    def _left_units(self) -> float:
        running = self._now.units * (1 - self._part) if self._now is not None else 0.0
        return sum(step.units for step in self._left) + running
