"""Text on its way out: few frames, first text at once, present speed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from engine.protocol.frames import Delta, FromWorker

INTERVAL_SECONDS = 1 / 30
SPEED_WINDOW_SECONDS = 1.0


class DeltaWriter:
    """Collects text and sends it at most 30 times a second."""

    def __init__(
        self, request_id: int, send: Callable[[FromWorker], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._id = request_id
        self._send = send
        self._clock = clock
        self._parts: list[str] = []
        self._thoughts: list[str] = []
        self._due = 0.0
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, text: str, tokens: int, now: float, thought: str = "") -> None:
        """Take text; send what was collected when it is time.

        Args:
            tokens: Generated so far.
            now: The clock's time, which the caller knows.
        """
        if text:
            self._parts.append(text)
        if thought:
            self._thoughts.append(thought)
        if now >= self._due and (self._parts or self._thoughts):
            self._due = now + INTERVAL_SECONDS
            self._flush(now, tokens)

    def flush(self, text: str, tokens: int, thought: str = "") -> None:
        """Send what is left."""
        if text:
            self._parts.append(text)
        if thought:
            self._thoughts.append(thought)
        if self._parts or self._thoughts:
            self._flush(self._clock(), tokens)

    def _flush(self, now: float, tokens: int) -> None:
        marks = self._marks
        marks.append((now, tokens))
        while len(marks) > 2 and now - marks[1][0] >= SPEED_WINDOW_SECONDS:
            marks.popleft()
        seconds, count = now - marks[0][0], tokens - marks[0][1]
        speed = count / seconds if seconds > 0 else 0.0
        text, thought = "".join(self._parts), "".join(self._thoughts)
        self._send(Delta(id=self._id, text=text, tokens=tokens, tps=speed, thinking=thought))
        self._parts.clear()
        self._thoughts.clear()
