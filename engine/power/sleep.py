"""How long the computer slept, by two clocks of the kernel.

``CLOCK_BOOTTIME`` counts the time in which the system is suspended, ``CLOCK_MONOTONIC`` does not (clock_gettime(2)):
their difference grows by sleep alone. Neither follows a change of the wall clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_SECONDS = 1.0
"""Less is the time between reading the two clocks."""


def boot_seconds() -> float:
    """Seconds since the start of the system, sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class SleepMeter:
    """Compares the clocks each time it is asked."""

    def __init__(
        self, boottime: Callable[[], float] = boot_seconds, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._boottime, self._monotonic = boottime, monotonic
        self._apart = self._difference()

    def look(self) -> float:
        """Seconds of sleep since the last look; 0.0 when there was none."""
        before, self._apart = self._apart, self._difference()
        slept = self._apart - before
        return slept if slept >= LEAST_SECONDS else 0.0

    def _difference(self) -> float:
        return self._boottime() - self._monotonic()
