"""When to try again."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.downloads.messages import Limits, Waiting
from engine.library.hub_errors import HubError

Sleep = Callable[[float], object]

NETWORK = ("hub-unreachable", "stalled", "broken-off")
"""What a network that is away for a while looks like."""


class Alarm:
    """A sleep that another thread can end.

    Attributes:
        renew: Ends the connections that are open now, so that new ones are made.
    """

    def __init__(self) -> None:
        self._rung = threading.Event()
        self.renew: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``, or until it rings."""
        self._rung.wait(seconds)
        self._rung.clear()

    def ring(self) -> None:
        """End the sleep, or the next one when nobody sleeps."""
        self._rung.set()

    def nudge(self) -> None:
        """The network is another one: connections that are open bring nothing any more, and nothing is waited for."""
        self.renew()
        self.ring()


class Patience:
    """Counts attempts that brought nothing new and waits longer each time."""

    def __init__(
        self,
        limits: Limits,
        report: Callable[[Waiting], None],
        sleep: Sleep | None = None,
        alarm: Alarm | None = None,
    ) -> None:
        """``sleep`` is for tests; without it ``alarm`` can end a wait."""
        self.alarm = alarm or Alarm()
        self._limits = limits
        self._report = report
        self._sleep = sleep or self.alarm.sleep
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
        limit = None if self._limits.persistent and error.code in NETWORK else self._limits.retries
        if limit is not None and self._failures > limit:
            raise error
        wait = min(self._limits.first_wait_s * 2.0 ** min(self._failures - 1, 20), self._limits.longest_wait_s)
        if error.retry_after is not None:
            wait = max(wait, error.retry_after)
        self._report(Waiting(seconds=wait, reason=error.message))
        self._sleep(wait)
