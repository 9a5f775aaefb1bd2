"""Heights of many things one below the other, some only estimated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class Heights:
    """A list of heights that knows where each one begins. Changing one costs nothing until the next question."""

    def __init__(self, heights: Iterable[float] = ()) -> None:
        self._heights = list(heights)
        self._tops: list[float] = [0.0]
        self._valid = 0
        """How many heights the tops account for."""

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> float:
        return self._heights[index]

    def set(self, index: int, height: float) -> None:
        """Height of thing number ``index``."""
        if self._heights[index] != height:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    def replace(self, start: int, stop: int, heights: Iterable[float]) -> None:
        """Put ``heights`` in place of ``start:stop``."""
        self._heights[start:stop] = heights
        self._valid = min(self._valid, start)

    def top(self, index: int) -> float:
        """Where thing number ``index`` begins; with the length of the list: where all ends."""
        if self._valid < index:
            del self._tops[self._valid + 1 :]
            self._tops += list(accumulate(self._heights[self._valid :], initial=self._tops[-1]))[1:]
            self._valid = len(self._heights)
        return self._tops[index]

    @property
    def total(self) -> float:
        """Height of all."""
        return self.top(len(self._heights))

    def find(self, y: float) -> int:
        """The thing at ``y``; the first or last one when ``y`` lies outside."""
        end = len(self._heights)
        self.top(end)
        return min(max(0, bisect_right(self._tops, y, 0, end + 1) - 1), max(0, end - 1))
