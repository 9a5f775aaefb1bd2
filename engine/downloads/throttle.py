"""A bound for the speed of a transfer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

BURST_S: Final = 0.25
"""So much of a second's bytes may come at once after a pause."""

SMALLEST_READ: Final = 4096
LARGEST_READ: Final = 1024 * 1024


class Throttle:
    """Lets through as many bytes a second as allowed, for all threads together.

    Args:
        limit: Bytes per second; None: no bound.
        clock, sleep: For tests.
    """

    def __init__(
        self,
        limit: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._limit = limit
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._free_at = clock()

    @property
    def read_size(self) -> int:
        """How much to read at once, so that a slow transfer flows instead of jumping."""
        limit = self._limit
        return LARGEST_READ if limit is None else max(SMALLEST_READ, min(LARGEST_READ, limit // 8))

    def set_limit(self, limit: int | None) -> None:
        """Another bound, from now on."""
        with self._lock:
            self._limit = limit
            self._free_at = self._clock()

    def passed(self, count: int) -> None:
        """``count`` bytes came; waits as long as they should have taken."""
        with self._lock:
            limit = self._limit
            if limit is None:
                return
            now = self._clock()
            self._free_at = max(self._free_at, now - BURST_S) + count / limit
            wait = self._free_at - now
        if wait > 0:
            self._sleep(wait)
