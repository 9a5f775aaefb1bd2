"""Thought and answer out of a stream of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

from engine.worker.thinking.tags import PAIRS, Tags


class Split(NamedTuple):
    """New text, apart."""

    thought: str
    answer: str


NOTHING = Split("", "")


class Parser(Protocol):
    """Takes the text of a model piece by piece. Nothing of a tag ever comes out."""

    @property
    def thinking(self) -> bool:
        """Inside a thought."""

    @property
    def answering(self) -> bool:
        """Surely inside the answer; neither this nor `thinking` before anything is known."""

    @property
    def over(self) -> bool:
        """Whether the model has ended its turn by a mark."""

    @property
    def settled(self) -> bool:
        """Whether everything that comes is answer text."""

    @property
    def closing(self) -> str:
        """What has to be written to end the thought now; "" where that cannot be."""

    def feed(self, text: str) -> Split:
        """What is certain now."""

    def flush(self) -> Split:
        """The rest, at the end of the text."""


class _State(Enum):
    START = auto()
    THOUGHT = auto()
    AFTER = auto()
    """Behind the closing tag, where white space is dropped."""
    ANSWER = auto()


class PairParser:
    """For thoughts in brackets.

    Args:
        pairs: The tags that may open a thought.
        opened: The pair whose opening tag stands in the prompt already.
        answering: An answer is being continued: no thought can open.
    """

    def __init__(self, pairs: Sequence[Tags] = PAIRS, opened: Tags | None = None, *, answering: bool = False) -> None:
        self._pairs, self._pair = pairs, opened
        self._state = _State.ANSWER if answering else _State.THOUGHT if opened else _State.START
        self._held = ""
        self._written = False

    @property
    def thinking(self) -> bool:
        """Inside a thought."""
        return self._state is _State.THOUGHT

    @property
    def answering(self) -> bool:
        """Inside the answer."""
        return self._state in {_State.ANSWER, _State.AFTER}

    @property
    def over(self) -> bool:
        """Tags end no turn."""
        return False

    @property
    def settled(self) -> bool:
        """Nothing opens behind the beginning of the answer."""
        return self._state is _State.ANSWER

    @property
    def closing(self) -> str:
        """The closing tag on a line of its own."""
        return f"\n{self._pair.close}\n\n" if self.thinking and self._pair else ""

    def feed(self, text: str) -> Split:
        """What is certain now."""
        if self._state is _State.ANSWER:
            return Split("", text)
        self._held += text
        if self._state is _State.START:
            self._open()
        thought = self._thought() if self._state is _State.THOUGHT else ""
        return Split(thought, self._answer())

    def flush(self) -> Split:
        """The rest: a thought that was not closed stays one."""
        held, self._held = self._held, ""
        if self._state is _State.THOUGHT:
            return Split(held.rstrip() if self._written else held.strip(), "")
        return Split("", held if self._state is _State.START else held.lstrip())

    def _open(self) -> None:
        begun = self._held.lstrip()
        if not begun or any(pair.open.startswith(begun) and pair.open != begun for pair in self._pairs):
            return
        self._pair = next((pair for pair in self._pairs if begun.startswith(pair.open)), None)
        if self._pair is None:
            self._state = _State.ANSWER
            return
        self._state = _State.THOUGHT
        self._held = begun.removeprefix(self._pair.open)

    def _thought(self) -> str:
        close = self._pair.close if self._pair else ""
        if not self._written:
            self._held = self._held.lstrip()
        inside, closed, rest = self._held.partition(close)
        if closed:
            self._state, self._held = _State.AFTER, rest
            return inside.rstrip()
        sure = self._held[: possible_start(self._held, (close,))].rstrip()
        self._held = self._held[len(sure) :]
        self._written = self._written or bool(sure)
        return sure

    def _answer(self) -> str:
        if self._state is _State.AFTER:
            self._held = self._held.lstrip()
            if self._held:
                self._state = _State.ANSWER
        if self._state is not _State.ANSWER:
            return ""
        answer, self._held = self._held, ""
        return answer


def possible_start(text: str, marks: Iterable[str]) -> int:
    """Where the longest end of ``text`` begins that may be the beginning of a mark; its length when none does."""
    known = tuple(mark for mark in marks if mark)
    longest = max(map(len, known), default=1)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(mark.startswith(text[start:]) for mark in known):
            return start
    return len(text)
