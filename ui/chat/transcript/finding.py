"""Finding words in the open conversation, in portions between events."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from ui.chat.transcript.blocks import ThoughtHead
from ui.chat.transcript.budget import deadline
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.part_view import Range
from ui.chat.transcript.selection import Spot, parts_of, plain_text_of

SLICE = 0.006
"""Seconds of one portion."""
MOST = 5_000
"""Matches that are kept; more are no help."""

Match = tuple[int, int, int, int]
"""Row, section, first character and the one behind the last."""


class Finder(QObject):
    """The places where some words stand, in reading order. Upper and lower case are the same.

    Attributes:
        changed: More is known, or another match is the chosen one.
        matches: Those that are known.
        chosen: Number of the one that is shown, None when there is none.
        done: All messages were looked through.
    """

    changed = Signal()

    def __init__(self, content: Layout, show: Callable[[Spot, int], None], parent: QObject) -> None:
        super().__init__(parent)
        self._content, self._show = content, show
        self._pattern: re.Pattern[str] | None = None
        self._hint: re.Pattern[str] | None = None
        self._next, self._from = 0, (0, 0, 0)
        self.matches: list[Match] = []
        self.chosen: int | None = None
        self.done = True
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._work)

    @property
    def active(self) -> bool:
        """Whether words are looked for."""
        return self._pattern is not None

    def search(self, words: str, start: Spot) -> None:
        """Look for ``words`` as they stand there; the first match at or behind ``start`` is chosen."""
        words = words.strip("\n")
        self._pattern = re.compile(re.escape(words), re.IGNORECASE) if words.strip() else None
        longest = max(re.findall(r"\w+", words), key=len, default="")
        self._hint = re.compile(re.escape(longest), re.IGNORECASE) if longest else None
        self._from = start
        self._restart(keep=None)

    def refresh(self) -> None:
        """The messages changed: look again, and stay at the match that is chosen."""
        if self.active:
            self._restart(keep=self.matches[self.chosen][:3] if self.chosen is not None else None)

    def stop(self) -> None:
        """Look for nothing."""
        self._pattern = None
        self._restart(keep=None)

    def step(self, by: int) -> None:
        """Choose the next match, or the one before; behind the last comes the first."""
        if self.matches:
            self._choose(((self.chosen if self.chosen is not None else -1) + by) % len(self.matches))

    def marks(self, row: int, section: int) -> list[Range]:
        """The matches in one section."""
        first = bisect_left(self.matches, (row, section, 0, 0))
        last = bisect_left(self.matches, (row, section + 1, 0, 0))
        return [match[2:] for match in self.matches[first:last]]

    def _restart(self, keep: Spot | None) -> None:
        if keep is not None:
            self._from = keep
        self._keeps = keep is not None
        self._next, self.matches, self.chosen = 0, [], None
        self.done = not self.active
        if self.done:
            self._timer.stop()
            self.changed.emit()
        else:
            self._work()

    def _work(self) -> None:
        tired = deadline(SLICE)
        rows = self._content.rows
        while self._next < len(rows) and len(self.matches) < MOST:
            self._look_through(self._next)
            self._next += 1
            if tired():
                break
        self.done = self._next >= len(rows) or len(self.matches) >= MOST
        if self.done:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
        self._settle()

    def _settle(self) -> None:
        if self.chosen is None and self.matches:
            behind = bisect_left(self.matches, (*self._from, 0))
            if behind < len(self.matches) or self.done:
                self._choose(behind % len(self.matches))
                return
        self.changed.emit()

    def _choose(self, number: int) -> None:
        self.chosen = number
        row, section, start, end = self.matches[number]
        if self._keeps:
            self._keeps = False
        else:
            self._show((row, section, start), end)
        self.changed.emit()

    def _look_through(self, number: int) -> None:
        row = self._content.rows[number]
        text = row.text + row.thinking
        if self._pattern is None or (self._hint is not None and not self._hint.search(text)):
            return
        for index, part in enumerate(parts_of(self._content, number)):
            if not isinstance(part, ThoughtHead):
                found = self._pattern.finditer(plain_text_of(part))
                self.matches += [(number, index + 1, match.start(), match.end()) for match in found]
