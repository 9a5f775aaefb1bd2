"""How fast the RAM of this computer is: measured once in a run, while the engine has nothing to do, and kept."""

from __future__ import annotations

from collections.abc import Callable

ROOM = 2 << 30
"""Bytes of RAM that must be available: the measurement takes a quarter of a GiB."""


class RamProbe:
    """Whether the speed has to be measured, and where the figure goes.

    Args:
        known: The speed is known otherwise, or it cannot be kept.
        idle: Nothing computes now that would be measured with it, or be disturbed.
        available: Bytes of RAM that programs can still get; None: unknown.
        keep: Takes bytes a second.
    """

    def __init__(
        self,
        known: Callable[[], bool],
        idle: Callable[[], bool],
        available: Callable[[], int | None],
        keep: Callable[[float], None],
    ) -> None:
        self._known, self._idle, self._available, self._keep = known, idle, available, keep
        self._tried = False

    def wanted(self) -> bool:
        """Measure now."""
        return not self._tried and not self._known() and self._idle() and (self._available() or 0) >= ROOM

    def take(self, speed: float | None) -> None:
        """What was measured; None: it could not be, and is not tried again in this run."""
        self._tried = True
        if speed is not None:
            self._keep(speed)
