"""Thought and answer in OpenAI's harmony format (github.com/openai/harmony, docs/format.md).

``<|channel|>analysis<|message|>p<|end|><|start|>assistant<|channel|>final<|message|>a<|return|>``
"""

from __future__ import annotations

import re
from enum import Enum, auto

from engine.worker.thinking.parser import Split, possible_start
from engine.worker.thinking.tags import THOUGHT_CHANNEL, Channels


class _Place(Enum):
    BEFORE = auto()
    """Nothing was written, or a role is being written: dropped when a header follows."""
    HEADER = auto()
    BODY = auto()


class ChannelParser:
    """For messages on channels: ``analysis`` is the thought, everything else is meant for the user.

    Args:
        channels: The marks.
        opened: Name of the channel whose message the prompt has begun already.
    """

    def __init__(self, channels: Channels, opened: str | None = None) -> None:
        self._marks = channels
        self._place = _Place.BODY if opened else _Place.BEFORE
        self._channel = opened or ""
        self._held = ""
        self._first = True
        self._gap = {True: "", False: ""}
        """What stands before the next thought, and before the next answer."""

        self._written = {True: False, False: False}
        self.over = False
        every = (channels.start, channels.channel, channels.message, channels.end)
        self._every = every
        self._pattern = re.compile("|".join(re.escape(mark) for mark in every))

    @property
    def thinking(self) -> bool:
        """Inside a thought, or between two messages."""
        return not (self.over or self._first_text) and (self._place is not _Place.BODY or self._is_thought)

    @property
    def answering(self) -> bool:
        """Inside the answer."""
        return self._place is _Place.BODY and not self._is_thought

    @property
    def settled(self) -> bool:
        """Another message can always come."""
        return False

    @property
    def closing(self) -> str:
        """The end of the message and the header of the answer."""
        return self._marks.to_answer if self._place is _Place.BODY and self._is_thought else ""

    @property
    def _first_text(self) -> bool:
        return self._first and self._place is _Place.BEFORE

    @property
    def _is_thought(self) -> bool:
        return self._channel == THOUGHT_CHANNEL

    def feed(self, text: str) -> Split:
        """What is certain now."""
        self._held += text
        thought, answer = "", ""
        while match := self._pattern.search(self._held):
            before, self._held = self._held[: match.start()], self._held[match.end() :]
            new = self._take(before)
            thought, answer = thought + new.thought, answer + new.answer
            self._turn(match[0])
        keep = possible_start(self._held, self._every)
        if self._place is _Place.BODY or (self._first_text and self._held[:keep].strip()):
            new = self._take(self._held[:keep])
            self._held = self._held[keep:]
            thought, answer = thought + new.thought, answer + new.answer
        return Split(thought, answer)

    def flush(self) -> Split:
        """The rest; the header of a message that never began is no text."""
        held, self._held = self._held, ""
        return self._take(held) if self._place is _Place.BODY or self._first_text else Split("", "")

    def _take(self, text: str) -> Split:
        if self.over or (self._place is not _Place.BODY and not self._first_text):
            self._channel = self._named(text)
            return Split("", "")
        if self._first_text and text.strip():
            self._place, self._channel = _Place.BODY, ""
        if not text or self._place is not _Place.BODY:
            return Split("", "")
        thought = self._is_thought
        text, self._gap[thought] = self._gap[thought] + text, ""
        self._written[thought] = True
        return Split(text, "") if thought else Split("", text)

    def _named(self, header: str) -> str:
        """The channel's name is the first word of the header."""
        return header.split()[0] if self._place is _Place.HEADER and header.split() else self._channel

    def _turn(self, mark: str) -> None:
        marks = self._marks
        ended = self._place is _Place.BODY and mark != marks.message
        if ended and not self._is_thought and mark == marks.end:
            self.over = True
        if ended and self._written[self._is_thought]:
            self._gap[self._is_thought] = "\n\n"
        self._first = False
        if mark == marks.channel:
            self._place = _Place.HEADER
        elif mark == marks.message:
            self._place = _Place.BODY
        else:
            self._place = _Place.BEFORE
