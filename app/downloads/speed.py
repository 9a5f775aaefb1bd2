"""Transfer speed over the last seconds."""

from __future__ import annotations

from collections import deque

WINDOW_S = 6.0
SETTLE_S = 0.8


class SpeedMeter:
    """Sliding mean. Times are seconds of a clock that never goes back."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, at: float, done: int) -> None:
        """``done`` bytes were here at ``at``. Fewer than before: counting begins anew."""
        if self._samples and done < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((at, done))
        while len(self._samples) > 2 and at - self._samples[0][0] > self._window_s:
            self._samples.popleft()

    def clear(self) -> None:
        """Forget all samples."""
        self._samples.clear()

    def speed(self, now: float) -> float | None:
        """Bytes per second; None until there is enough to tell."""
        if len(self._samples) < 2:
            return None
        start, first = self._samples[0]
        span = now - start
        if span < SETTLE_S:
            return None
        return max(0.0, (self._samples[-1][1] - first) / span)
