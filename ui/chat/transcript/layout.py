"""Where the messages are: only what is near the view is laid out, the rest is estimated.

The place that is shown is an *anchor*, a section of a message and how many pixels of it are above the view. Heights
that turn out to be others than estimated change the scroll bar, never what is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ui.chat.transcript.budget import Tired, never
from ui.chat.transcript.look import Look
from ui.chat.transcript.message import Message
from ui.chat.transcript.messages import Messages
from ui.chat.transcript.row import Row
from ui.chat.transcript.words import Words

FAR = 4
"""Views; a longer way is jumped, not walked."""


class Placed(NamedTuple):
    """A section that is seen: ``y`` is its top in the view."""

    row: int
    section: int
    y: float
    height: float


@dataclass(slots=True)
class Anchor:
    """The section at the top of the view; ``above`` pixels of it are out of sight."""

    row: int = 0
    section: int = 0
    above: float = 0.0


class Layout:
    """The part of the conversation that is shown.

    Attributes:
        follow: The end stays in view when it moves.
        placed: What is seen, from top to bottom, after `arrange`.
    """

    def __init__(self, look: Look, words: Words) -> None:
        self.messages = Messages(look, words, 600.0)
        self.view_height = 400.0
        self.follow = True
        self.placed: list[Placed] = []
        self._anchor = Anchor()

    @property
    def rows(self) -> list[Row]:
        """The rows as they are now."""
        return self.messages.rows

    @property
    def look(self) -> Look:
        """Fonts, colours, measures."""
        return self.messages.look

    @property
    def column(self) -> float:
        """Width of the column."""
        return self.messages.column

    @property
    def padding(self) -> int:
        """Room above the first and below the last message."""
        return self.look.px(12)

    def message(self, number: int) -> Message:
        """Row ``number`` with its parts known."""
        return self.messages.get(number)

    # Rows.

    def reset(self, rows: Sequence[Row]) -> None:
        """Show other rows, from their end."""
        self.messages.reset(rows)
        self.placed, self.follow, self._anchor = [], True, Anchor()

    def insert(self, first: int, rows: Sequence[Row]) -> None:
        """New rows before row number ``first``."""
        if first <= self._anchor.row and self.rows:
            self._anchor.row += len(rows)
        self.messages.insert(first, rows)
        self.placed = []

    def remove(self, first: int, last: int) -> None:
        """Rows ``first`` to ``last`` are gone."""
        self.messages.remove(first, last)
        self.placed = []
        if self._anchor.row > last:
            self._anchor.row -= last + 1 - first
        elif self._anchor.row >= first:
            self._anchor = Anchor(min(first, max(0, len(self.rows) - 1)))

    def relayout(self, look: Look, column: float) -> None:
        """Use another look or width; the text at the top of the view stays there."""
        place = self._text_place()
        self.messages.resize(look, column)
        if place is not None:
            self._anchor.above = self.message(self._anchor.row).height_of(self._anchor.section, place)

    def _text_place(self) -> tuple[int, float] | None:
        if not self.rows or self.follow:
            return None
        self._normalise()
        return self.message(self._anchor.row).place_in(self._anchor.section, self._anchor.above)

    # Reading goes on in the background.

    def unread(self) -> int | None:
        """A row that is not read to its end, of those that are seen."""
        for number in dict.fromkeys(placed.row for placed in self.placed):
            message = self.messages.known(number)
            if message is not None and not message.reader.done:
                return number
        return None

    def limit(self, tired: Tired) -> None:
        """From now on read of long new messages only what there is time for."""
        self.messages.limit(tired)

    # The place.

    @property
    def total(self) -> float:
        """Height of everything."""
        return self.messages.heights.total + 2 * self.padding

    @property
    def offset(self) -> float:
        """How far down the view is."""
        if not self.rows:
            return 0.0
        message = self.messages.known(self._anchor.row)
        inside = message.heights.top(self._anchor.section) if message else 0.0
        return self.padding + self.messages.heights.top(self._anchor.row) + inside + self._anchor.above

    @property
    def range(self) -> float:
        """The largest `offset`."""
        return max(0.0, self.total - self.view_height)

    def at_end(self) -> bool:
        """Whether the end is in view."""
        return self.offset >= self.range - 2

    def jump(self, offset: float) -> None:
        """Show what is estimated to be at ``offset``."""
        if not self.rows:
            return
        offset -= self.padding
        row = self.messages.heights.find(offset)
        message = self.message(row)
        inside = min(max(offset - self.messages.heights.top(row), offset if row == 0 else 0.0), message.heights.total)
        section = message.heights.find(inside)
        self._anchor = Anchor(row, section, inside - message.heights.top(section))

    def reveal(self, row: int, section: int, position: int) -> None:
        """Bring a character into view, a third below the top, unless it is well in view already."""
        message = self.message(row)
        message.read(never)
        self.messages.heights.set(row, message.heights.total)
        section = min(section, message.foot)
        if message.part(section) is None:
            top, height = 0.0, float(self.look.line)
        else:
            box = message.view(section).caret(position)
            top, height = message.gap(section) + box.top(), box.height()
        seen = next((placed for placed in self.placed if placed[:2] == (row, section)), None)
        if seen is None or seen.y + top < self.padding or seen.y + top + height > self.view_height - self.padding:
            self._anchor = Anchor(row, section, top - self.view_height / 3)
            self._normalise()
        self.follow = False

    def scroll_by(self, distance: float) -> None:
        """Move by pixels, laying out what is passed."""
        if abs(distance) > FAR * self.view_height:
            self.jump(self.offset + distance)
        elif self.rows:
            self._anchor.above += distance
            self._normalise()

    def _normalise(self) -> None:
        """Make the anchor the section that the top of the view really is in."""
        anchor, measure = self._anchor, self.messages.measure
        anchor.row = min(anchor.row, len(self.rows) - 1)
        anchor.section = min(anchor.section, self.message(anchor.row).foot)
        while anchor.above < 0 and (anchor.row or anchor.section):
            anchor.row, anchor.section = self._before(anchor.row, anchor.section)
            anchor.above += measure(anchor.row, anchor.section)
        while anchor.above >= (height := measure(anchor.row, anchor.section)):
            row, section = self._after(anchor.row, anchor.section)
            if row >= len(self.rows):
                break
            anchor.row, anchor.section = row, section
            anchor.above -= height

    def _before(self, row: int, section: int) -> tuple[int, int]:
        return (row, section - 1) if section else (row - 1, self.message(row - 1).foot)

    def _after(self, row: int, section: int) -> tuple[int, int]:
        return (row, section + 1) if section < self.message(row).foot else (row + 1, 0)

    def _to_end(self) -> None:
        """Put the anchor so that the end is at the bottom of the view, or the start at its top when all fits."""
        row = len(self.rows) - 1
        section = self.message(row).foot
        y = self.view_height - self.padding - self.messages.measure(row, section)
        while y > 0 and (row or section):
            row, section = self._before(row, section)
            y -= self.messages.measure(row, section)
        self._anchor = Anchor(row, section, -min(y, float(self.padding)))

    def arrange(self) -> list[Placed]:
        """Lay out what is seen."""
        self.placed = []
        if not self.rows:
            return self.placed
        if self.follow:
            self._to_end()
        else:
            self._normalise()
            if self._anchor.row == 0 and self._anchor.section == 0:
                self._anchor.above = max(self._anchor.above, -float(self.padding))
        if self._place() < self.view_height - self.padding and not self.follow:
            self._to_end()
            self._place()
        seen: dict[int, list[int]] = {}
        for placed in self.placed:
            seen.setdefault(placed.row, []).append(placed.section)
        self.messages.trim(seen)
        return self.placed

    def _place(self) -> float:
        """Fill `placed` from the anchor down. Returns where the last section ends."""
        self.placed = []
        row, section, y = self._anchor.row, self._anchor.section, -self._anchor.above
        while y < self.view_height and row < len(self.rows):
            height = self.messages.measure(row, section)
            self.placed.append(Placed(row, section, y, height))
            y += height
            row, section = self._after(row, section)
        return y
