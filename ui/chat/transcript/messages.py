"""All rows of a conversation: their heights, and the few messages that are laid out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from ui.chat.transcript import estimate
from ui.chat.transcript.budget import Tired, never
from ui.chat.transcript.heights import Heights
from ui.chat.transcript.look import Look
from ui.chat.transcript.message import Message
from ui.chat.transcript.reading import Folds
from ui.chat.transcript.row import Row, is_user
from ui.chat.transcript.words import Words

KEPT_MESSAGES = 64
KEPT_VIEWS = 400
NEAR = 32
"""Sections around those that are seen which stay laid out in a very long message."""


class Messages:
    """Rows by number. A message is read when it is first asked for, and forgotten when many others were seen since.

    Attributes:
        heights: Of all rows, exact for what is laid out, else estimated.
    """

    def __init__(self, look: Look, words: Words, column: float) -> None:
        self.look, self.words, self.column = look, words, column
        self.rows: list[Row] = []
        self.folds: Folds = {}
        self.heights = Heights()
        self._known: OrderedDict[str, Message] = OrderedDict()
        self._tired: Tired = never

    def __len__(self) -> int:
        return len(self.rows)

    def limit(self, tired: Tired) -> None:
        """From now on read of long new messages only what there is time for."""
        self._tired = tired

    def reset(self, rows: Sequence[Row]) -> None:
        """Other rows."""
        self.rows = list(rows)
        self._known.clear()
        self.heights = Heights(self._estimate(row) for row in self.rows)

    def insert(self, first: int, rows: Sequence[Row]) -> None:
        """New rows before row number ``first``."""
        self.rows[first:first] = rows
        self.heights.replace(first, first, [self._estimate(row) for row in rows])

    def remove(self, first: int, last: int) -> None:
        """Rows ``first`` to ``last`` are gone."""
        for row in self.rows[first : last + 1]:
            self._known.pop(row.id, None)
        del self.rows[first : last + 1]
        self.heights.replace(first, last + 1, [])

    def change(self, number: int, row: Row) -> None:
        """Row ``number`` is another one now."""
        old, self.rows[number] = self.rows[number], row
        message = self._known.get(old.id)
        if message is None or old.id != row.id or is_user(old) != is_user(row):
            self._known.pop(old.id, None)
            self.heights.set(number, self._estimate(row))
            return
        message.set_row(row, self._tired)
        self.heights.set(number, message.heights.total)

    def resize(self, look: Look, column: float) -> None:
        """Take another look or width."""
        self.look, self.column = look, column
        heights = []
        for row in self.rows:
            known = self._known.get(row.id)
            if known is not None:
                known.resize(look, column)
            heights.append(known.heights.total if known else self._estimate(row))
        self.heights = Heights(heights)

    def _estimate(self, row: Row) -> float:
        chrome = self.look.target + self.look.message_gap + 1.6 * self.look.line
        width = self.column * 0.8 if is_user(row) else self.column
        if row.thinking:
            chrome += self.look.target
            if self.folds.get(row.id, not row.text.strip()):
                chrome += estimate.text_height(self.look, row.thinking, width)
        return chrome + estimate.text_height(self.look, row.text, width)

    def get(self, number: int) -> Message:
        """Row ``number`` with its parts known, as far as there was time to read them."""
        row = self.rows[number]
        message = self._known.get(row.id)
        if message is None:
            message = Message(row, self.look, self.words, self.column, self.folds)
            message.read(self._tired)
            self._known[row.id] = message
            self.heights.set(number, message.heights.total)
        self._known.move_to_end(row.id)
        return message

    def known(self, number: int) -> Message | None:
        """Row ``number`` if it was read already."""
        return self._known.get(self.rows[number].id)

    def fold(self, number: int, *, unfolded: bool) -> None:
        """Show the thought of row ``number``, or hide it."""
        message = self.get(number)
        message.fold(unfolded=unfolded)
        self.heights.set(number, message.heights.total)

    def read_on(self, number: int, tired: Tired) -> None:
        """Read some more of row ``number``."""
        message = self.get(number)
        message.read(tired)
        self.heights.set(number, message.heights.total)

    def measure(self, number: int, section: int) -> float:
        """Height of a section, exactly."""
        message = self.get(number)
        height = message.measure(section)
        self.heights.set(number, message.heights.total)
        return height

    def trim(self, seen: Mapping[int, Collection[int]]) -> None:
        """Give memory back; ``seen`` are the rows in view and their sections."""
        names = {self.rows[number].id for number in seen}
        while len(self._known) > KEPT_MESSAGES + len(seen):
            self._known.popitem(last=False)
        views = sum(len(message.views) for message in self._known.values())
        for name, message in self._known.items():
            if views <= KEPT_VIEWS:
                return
            if name not in names:
                views -= len(message.views)
                message.drop_views()
        for number, sections in seen.items():
            self.get(number).drop_views(range(min(sections) - NEAR, max(sections) + NEAR))

    def drop_waiting(self) -> bool:
        """Lay out again where a formula was being drawn. True: there was something."""
        return sum(message.drop_waiting() for message in self._known.values()) > 0

    @property
    def laid_out(self) -> int:
        """Parts that are laid out now."""
        return sum(len(message.views) for message in self._known.values())
