"""Power of the cards that compute, read now and then while they do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.memory.cards import Card, CardFinder
from engine.memory.sensors import SensorReader
from engine.memory.tree import Tree, sysroot

SLOW_SECONDS = 0.01
"""A sensor that takes longer disturbs what it measures; it is not asked again."""


class PowerMeter:
    """Mean power of some cards over a stretch of work, watts.

    The caller asks for a look between two steps of its work, so no thread takes time from it.

    Args:
        pcis: Addresses of the cards.
    """

    def __init__(
        self, pcis: Sequence[str], tree: Tree | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        tree = tree or Tree(sysroot())
        self._cards: list[Card] = [card for card in CardFinder(tree).cards() if card.pci in pcis] if pcis else []
        self._sensors = SensorReader(tree)
        self._clock = clock
        self._readings: list[float] = []
        self._complete = len(self._cards) == len(set(pcis))

    def begin(self) -> None:
        """Forget what was read."""
        self._readings = []

    def look(self) -> None:
        """Read the sensors. They are of cards that work, so nothing is woken."""
        if not self._cards or not self._complete:
            return
        start = self._clock()
        readings = [
            self._sensors.read(card, asleep=self._sensors.asleep(card), in_use=True, now=start).power_w
            for card in self._cards
        ]
        if None in readings or self._clock() - start > SLOW_SECONDS:
            self._complete = False
        if None not in readings:
            self._readings.append(sum(reading for reading in readings if reading is not None))

    def end(self) -> float | None:
        """The mean of what was read; None where no sensor told, or not of all cards."""
        if not self._readings:
            self.look()
        return sum(self._readings) / len(self._readings) if self._readings else None
