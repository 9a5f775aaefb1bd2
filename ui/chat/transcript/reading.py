"""A row's words as parts: the thought, when it is unfolded, then the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ui.chat.transcript.blocks import PARAGRAPH_GAP, TIGHT_GAP, Part, ThoughtHead
from ui.chat.transcript.budget import Tired
from ui.chat.transcript.parse import MarkdownStream
from ui.chat.transcript.plain import PlainStream
from ui.chat.transcript.row import Row, is_open, is_thinking, is_user

Folds = dict[str, bool]
"""Thoughts that the user unfolded (True) or folded, by message id."""

_HEAD = ThoughtHead()


class RowReader:
    """Reads thought and answer of one row. What is finished is read once.

    A thought is unfolded while nothing of the answer is there; a folded one is not read at all.

    Attributes:
        parts: What is known so far.
        thought_parts: How many of the first `parts` belong to the thought.
    """

    def __init__(self, row: Row, folds: Folds) -> None:
        self._row, self._folds = row, folds
        self._answer: MarkdownStream | PlainStream = PlainStream() if is_user(row) else MarkdownStream()
        self._thought = MarkdownStream()
        self._framed: list[Part] = []
        self.parts: list[Part] = []
        self.thought_parts = 0
        self.set_row(row)

    @property
    def unfolded(self) -> bool:
        """Whether the thought is shown."""
        by_itself = not self._row.text.strip()
        return bool(self._row.thinking) and self._folds.get(self._row.id, by_itself)

    @property
    def done(self) -> bool:
        """Whether all that is shown was read."""
        return self._answer.done and (not self.unfolded or self._thought.done)

    @property
    def stable(self) -> int:
        """How many of the first `parts` cannot change any more."""
        if self.unfolded and not (self._thought.done and self._thought.stable == len(self._thought.parts)):
            return min(1 + self._thought.stable, len(self.parts))
        return self.thought_parts + self._answer.stable

    @property
    def rest(self) -> float:
        """About how many characters of what is shown are not read yet."""
        thought = (1 - self._thought.share) * len(self._row.thinking) if self.unfolded else 0.0
        return thought + (1 - self._answer.share) * len(self._row.text)

    def set_row(self, row: Row) -> None:
        """Take the row as it is now, cheap when it only grew."""
        self._row = row
        self._answer.set_text(row.text, final=not is_open(row))
        if self.unfolded:
            self._thought.set_text(row.thinking, final=not is_thinking(row))

    def fold(self, *, unfolded: bool) -> None:
        """Show the thought or hide it from now on."""
        self._folds[self._row.id] = unfolded
        self.set_row(self._row)

    def advance(self, tired: Tired) -> None:
        """Read on until all is read or ``tired()`` says that it is enough for now."""
        if self.unfolded:
            self._thought.advance(tired)
        if not self.unfolded or self._thought.done:
            self._answer.advance(tired)
        lead = self._lead()
        answer = self._answer.parts if not self.unfolded or self._thought.done else []
        if lead and answer:
            answer = [replace(answer[0], gap=PARAGRAPH_GAP if len(lead) > 1 else TIGHT_GAP), *answer[1:]]
        self.parts, self.thought_parts = [*lead, *answer], len(lead)

    def _lead(self) -> list[Part]:
        if not self._row.thinking:
            return []
        if not self.unfolded:
            return [_HEAD]
        known = self._thought.parts
        del self._framed[self._thought.stable :]
        self._framed += _framed(known[len(self._framed) : self._thought.stable], first=not self._framed)
        rest = _framed(known[len(self._framed) :], first=not self._framed)
        return [_HEAD, *self._framed, *rest]


def _framed(parts: Sequence[Part], *, first: bool) -> list[Part]:
    return [
        replace(part, frames="t" + part.frames, gap=TIGHT_GAP if first and not number else part.gap)
        for number, part in enumerate(parts)
    ]
