"""Who fetches which bytes of a file."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import Final

from engine.downloads.blocks import BLOCK, Span

SMALLEST: Final = 8 * BLOCK
LARGEST: Final = 256 * BLOCK
"""Bounds of what one request asks for when several are open: each costs a connection that has to gather speed."""


class Claim:
    """Bytes that one connection fetches: from ``at``, which moves on, up to ``end``, which may come nearer."""

    def __init__(self, start: int, end: int) -> None:
        self.at = start
        self.end = end


class Plan:
    """Gives out what is missing, in the order of the file. Not thread-safe.

    Args:
        missing: In order, as `Blocks.missing` gives it.
        connections: How many will ask; one gets each gap as a whole.
    """

    def __init__(self, missing: Iterable[Span], connections: int) -> None:
        self._free: list[Span] = list(missing)
        self._active: list[Claim] = []
        self._segment: int | None = None
        if connections > 1:
            left = sum(end - start for start, end in self._free)
            wanted = left // (4 * connections) // BLOCK * BLOCK
            self._segment = min(LARGEST, max(SMALLEST, wanted))

    @property
    def is_done(self) -> bool:
        """Nothing is left and nobody fetches."""
        return not self._free and not self._active

    def take(self) -> Claim | None:
        """The next bytes to fetch; when all are given out the second half of the longest claim; None: nothing to do."""
        claim = self._next() or self._steal()
        if claim is not None:
            self._active.append(claim)
        return claim

    def _next(self) -> Claim | None:
        if not self._free:
            return None
        start, end = self._free[0]
        if self._segment is None or end - start <= self._segment:
            self._free.pop(0)
            return Claim(start, end)
        cut = (start + self._segment) // BLOCK * BLOCK
        self._free[0] = cut, end
        return Claim(start, cut)

    def _steal(self) -> Claim | None:
        if self._segment is None:
            return None
        longest = max(self._active, key=lambda claim: claim.end - claim.at, default=None)
        if longest is None or longest.end - longest.at < 2 * SMALLEST:
            return None
        middle = (longest.at + longest.end) // 2 // BLOCK * BLOCK
        stolen = Claim(middle, longest.end)
        longest.end = middle
        return stolen

    def release(self, claim: Claim) -> None:
        """``claim`` is fetched no more; what is missing of it is free again."""
        self._active.remove(claim)
        if claim.at < claim.end:
            bisect.insort(self._free, (claim.at, claim.end))

    def add(self, span: Span) -> None:
        """``span`` has to be fetched too."""
        bisect.insort(self._free, span)
