"""The speed of a run that is not over yet, from its reports of progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.protocol.bench import BenchSample, BenchTest

LEAST_TOKENS: Final = 8
LEAST_SECONDS: Final = 0.5
"""Shorter spans say more of the reports' delays than of the speed."""


class LiveRate:
    """Counts the timed tokens of a run: generation comes last, so they are the last ones of the progress."""

    def __init__(self, test: BenchTest | None, clock: Callable[[], float]) -> None:
        self._generated = test.generated if test is not None else 0
        self._clock = clock
        self._from: tuple[int, float] | None = None
        self._tokens, self._seconds = 0, 0.0

    def progress(self, done: int, total: int) -> None:
        """The run says how far it is, in tokens; warm-up and depth counted."""
        if not self._generated or done < total - self._generated:
            return
        if self._from is None:
            self._from = done, self._clock()
        self._tokens, self._seconds = done - self._from[0], self._clock() - self._from[1]

    @property
    def known(self) -> bool:
        """Enough was generated to speak of a speed."""
        return self._tokens >= LEAST_TOKENS and self._seconds >= LEAST_SECONDS

    @property
    def tps(self) -> float | None:
        """Tokens a second so far; None before there are enough."""
        return self._tokens / self._seconds if self.known else None

    @property
    def sample(self) -> BenchSample | None:
        """What a run gives that is stopped now."""
        return BenchSample(generated=self._tokens, generated_s=self._seconds) if self.known else None
