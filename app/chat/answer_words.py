"""What a model has written so far: its thought and its answer, cleaned as they come."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.chat.settings import ChatSettings
from engine.chat.records import Message
from engine.chat.text import StreamCleaner
from engine.protocol.frames import Delta


class AnswerWords:
    """Takes deltas. Reading the text costs nothing while nothing came.

    Args:
        clock: Seconds, never going back.
        text: What the answer begins with, before any delta.
        thought: The same of the thought, and how long it took.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        text: str = "",
        thought: str = "",
        thought_s: float | None = None,
    ) -> None:
        self._text, self._thought = _Stream(text), _Stream(thought)
        self._clock = clock
        self._earlier_s = thought_s or 0.0
        self._thinking_since: float | None = None
        self._thought_s = thought_s

    @property
    def text(self) -> str:
        """The answer."""
        return self._text.whole()

    @property
    def thought(self) -> str:
        """What came before it, without tags."""
        return self._thought.whole()

    @property
    def thought_s(self) -> float | None:
        """From the thought's first words to the answer's, or until now; None while there was no thought."""
        if self._thought_s is None and self._thinking_since is not None:
            return self._earlier_s + self._clock() - self._thinking_since
        return self._thought_s

    def take(self, delta: Delta) -> None:
        """Add what is new."""
        if delta.thinking and self._thinking_since is None:
            self._thinking_since, self._thought_s = self._clock(), None
        if delta.text:
            self._thought_s = self.thought_s
        self._thought.add(delta.thinking)
        self._text.add(delta.text)

    def finish(self) -> None:
        """Nothing more will come."""
        self._thought_s = self.thought_s
        self._thought.finish()
        self._text.finish()


class _Stream:
    def __init__(self, begun: str) -> None:
        self._pieces = [begun] if begun else []
        self._cleaner = StreamCleaner()

    def add(self, text: str) -> None:
        if text:
            self._pieces.append(self._cleaner.feed(text))

    def finish(self) -> None:
        self._pieces.append(self._cleaner.finish())

    def whole(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


def first_words(clock: Callable[[], float], settings: ChatSettings, resumed: Message | None) -> AnswerWords:
    """What the answer begins with: what is there of it already, or what the user began for the model."""
    if resumed is None:
        return AnswerWords(clock, settings.prefill)
    return AnswerWords(clock, resumed.text, resumed.thinking, resumed.thought_s)
