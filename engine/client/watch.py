"""Time limits that a sleeping computer does not use up."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

LONGEST_LOOK = 1.0
"""Seconds between two looks that count as waiting. A longer gap means that this program itself stood still."""

K = TypeVar("K", bound=Hashable)


class Watch(Generic[K]):
    """Time limits by key, on a monotonic clock that is handed in.

    The driver looks several times a second. When it could not (suspended, stopped by a signal), the worker could
    not have been heard either, so the gap is not charged to it.
    """

    def __init__(self) -> None:
        self._left: dict[K, float] = {}
        self._looked = 0.0

    def start(self, key: K, seconds: float, now: float) -> None:
        """Begin to count down for ``key``; a running count goes on."""
        self._pass_time(now)
        self._left.setdefault(key, seconds)

    def clear(self, key: K) -> None:
        """``key`` was heard of."""
        self._left.pop(key, None)

    def clear_all(self) -> None:
        """Nothing is waited for any more."""
        self._left.clear()

    def expired(self, now: float) -> K | None:
        """The first key whose time is over, or None."""
        self._pass_time(now)
        return next((key for key, left in self._left.items() if left <= 0), None)

    def __bool__(self) -> bool:
        return bool(self._left)

    def _pass_time(self, now: float) -> None:
        passed = min(max(now - self._looked, 0.0), LONGEST_LOOK)
        self._looked = now
        for key in self._left:
            self._left[key] -= passed
