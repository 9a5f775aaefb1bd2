"""When to try again."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.downloads.messages import Limits, Waiting
from engine.library.hub_errors import HubError

Sleep = Callable[[float], None]


class Patience:
    """Counts attempts that brought nothing new and waits longer each time."""

    def __init__(self, limits: Limits, report: Callable[[Waiting], None], sleep: Sleep = time.sleep) -> None:
        self._limits = limits
        self._report = report
        self._sleep = sleep
        self._failures = 0
        self._furthest = 0

    def after(self, error: HubError, reached: int) -> None:
        """Wait before the next attempt, or raise ``error`` when there should be none.

        ``reached`` is how many bytes are here now: more than ever before counts as progress.
        """
        if not error.retryable:
            raise error
        if reached > self._furthest:
            self._furthest, self._failures = reached, 0
        self._failures += 1
        if self._failures > self._limits.retries:
            raise error
        wait = min(self._limits.first_wait_s * 2 ** (self._failures - 1), self._limits.longest_wait_s)
        if error.retry_after is not None:
            wait = max(wait, error.retry_after)
        self._report(Waiting(seconds=wait, reason=error.message))
        self._sleep(wait)
