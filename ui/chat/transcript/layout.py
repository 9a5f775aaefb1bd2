"""Where the messages are: only what is near the view is laid out, the rest is estimated.

The place that is shown is an *anchor*, a section of a message and how many pixels of it are above the view. Heights
that turn out to be others than estimated change the scroll bar, never what is seen.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ui.chat.transcript import estimate
from ui.chat.transcript.budget import Tired, never
from ui.chat.transcript.heights import Heights
from ui.chat.transcript.look import Look
from ui.chat.transcript.message import Message
from ui.chat.transcript.row import Row, is_user
from ui.chat.transcript.words import Words

KEPT_MESSAGES = 64
KEPT_VIEWS = 400


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
    """Rows, their heights, and the part of them that is shown.

    Attributes:
        follow: The end stays in view when it moves.
        placed: What is seen, from top to bottom, after `arrange`.
    """

    def __init__(self, look: Look, words: Words) -> None:
        self.look, self.words = look, words
        self.rows: list[Row] = []
        self.heights = Heights()
        self.column = 600.0
        self.view_height = 400.0
        self.follow = True
        self.placed: list[Placed] = []
        self._anchor = Anchor()
        self._messages: OrderedDict[str, Message] = OrderedDict()
        self._tired: Tired = never

    @property
    def padding(self) -> int:
        """Room above the first and below the last message."""
        return self.look.px(12)

    # Rows.

    def reset(self, rows: Sequence[Row]) -> None:
        """Show other rows, from their end."""
        self.rows, self.placed = list(rows), []
        self._messages.clear()
        self.heights = Heights(self._estimate(row) for row in self.rows)
        self.follow, self._anchor = True, Anchor()

    def insert(self, first: int, rows: Sequence[Row]) -> None:
        """New rows before row number ``first``."""
        self.placed = []
        self.rows[first:first] = rows
        self.heights.replace(first, first, [self._estimate(row) for row in rows])
        if first <= self._anchor.row and len(self.rows) > len(rows):
            self._anchor.row += len(rows)

    def remove(self, first: int, last: int) -> None:
        """Rows ``first`` to ``last`` are gone."""
        self.placed = []
        for row in self.rows[first : last + 1]:
            self._messages.pop(row.id, None)
        del self.rows[first : last + 1]
        self.heights.replace(first, last + 1, [])
        if self._anchor.row > last:
            self._anchor.row -= last + 1 - first
        elif self._anchor.row >= first:
            self._anchor = Anchor(min(first, max(0, len(self.rows) - 1)))

    def change(self, number: int, row: Row) -> None:
        """Row ``number`` is another one now."""
        old, self.rows[number] = self.rows[number], row
        message = self._messages.get(old.id)
        if message is None or old.id != row.id or is_user(old) != is_user(row):
            self._messages.pop(old.id, None)
            self.heights.set(number, self._estimate(row))
            return
        message.set_row(row, self._tired)
        self.heights.set(number, message.heights.total)

    def _estimate(self, row: Row) -> float:
        chrome = self.look.target + self.look.message_gap + 1.6 * self.look.line
        width = self.column * 0.8 if is_user(row) else self.column
        return chrome + estimate.text_height(self.look, row.text, width)

    def message(self, number: int) -> Message:
        """Row ``number`` with its parts known, as far as there was time to read them."""
        row = self.rows[number]
        message = self._messages.get(row.id)
        if message is None:
            message = Message(row, self.look, self.words, self.column)
            message.read(self._tired)
            self._messages[row.id] = message
            self.heights.set(number, message.heights.total)
        self._messages.move_to_end(row.id)
        return message

    def known(self, number: int) -> Message | None:
        """Row ``number`` if it was read already."""
        return self._messages.get(self.rows[number].id)

    # Reading goes on in the background.

    def unread(self) -> int | None:
        """A row that is not read to its end, of those that are seen."""
        for number in dict.fromkeys(placed.row for placed in self.placed):
            message = self.known(number)
            if message is not None and not message.reader.done:
                return number
        return None

    def read_on(self, number: int, tired: Tired) -> None:
        """Read some more of row ``number``."""
        message = self.message(number)
        message.read(tired)
        self.heights.set(number, message.heights.total)

    # The place.

    @property
    def total(self) -> float:
        """Height of everything."""
        return self.heights.total + 2 * self.padding

    @property
    def offset(self) -> float:
        """How far down the view is."""
        if not self.rows:
            return 0.0
        message = self._messages.get(self.rows[self._anchor.row].id)
        inside = message.heights.top(self._anchor.section) if message else 0.0
        return self.padding + self.heights.top(self._anchor.row) + inside + self._anchor.above

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
        row = self.heights.find(offset)
        message = self.message(row)
        inside = min(max(offset - self.heights.top(row), offset if row == 0 else 0.0), message.heights.total)
        section = message.heights.find(inside)
        self._anchor = Anchor(row, section, inside - message.heights.top(section))

    def scroll_by(self, distance: float) -> None:
        """Move by pixels, laying out what is passed."""
        if abs(distance) > 4 * self.view_height:
            self.jump(self.offset + distance)
        else:
            self._anchor.above += distance
            self._normalise()

    def show_row(self, number: int, section: int = 0, above: float = 0.0) -> None:
        """Put the top of a section at the top of the view."""
        self._anchor = Anchor(number, section, above)

    def relayout(self, look: Look, column: float) -> None:
        """Use another look or width; the text at the top of the view stays there."""
        place = self._text_place()
        self.look, self.column = look, column
        heights = []
        for row in self.rows:
            known = self._messages.get(row.id)
            if known is not None:
                known.resize(look, column)
            heights.append(known.heights.total if known else self._estimate(row))
        self.heights = Heights(heights)
        if place is not None and self.rows:
            self._anchor.above = self.message(self._anchor.row).height_of(self._anchor.section, place)

    def _text_place(self) -> tuple[int, float] | None:
        if not self.rows or self.follow:
            return None
        self._normalise()
        return self.message(self._anchor.row).place_in(self._anchor.section, self._anchor.above)

    def _measure(self, number: int, section: int) -> float:
        message = self.message(number)
        height = message.measure(section)
        self.heights.set(number, message.heights.total)
        return height

    def _normalise(self) -> None:
        """Make the anchor the section that the top of the view really is in."""
        anchor = self._anchor
        anchor.row = min(anchor.row, len(self.rows) - 1)
        anchor.section = min(anchor.section, self.message(anchor.row).foot)
        while anchor.above < 0 and (anchor.row or anchor.section):
            if anchor.section:
                anchor.section -= 1
            else:
                anchor.row -= 1
                anchor.section = self.message(anchor.row).foot
            anchor.above += self._measure(anchor.row, anchor.section)
        while anchor.above >= (height := self._measure(anchor.row, anchor.section)):
            if anchor.section < self.message(anchor.row).foot:
                anchor.section += 1
            elif anchor.row < len(self.rows) - 1:
                anchor.row, anchor.section = anchor.row + 1, 0
            else:
                break
            anchor.above -= height

    def _to_end(self) -> None:
        """Put the anchor so that the end is at the bottom of the view, or the start at its top when all fits."""
        row = len(self.rows) - 1
        section = self.message(row).foot
        y = self.view_height - self.padding - self._measure(row, section)
        while y > 0 and (row or section):
            if section:
                section -= 1
            else:
                row -= 1
                section = self.message(row).foot
            y -= self._measure(row, section)
        self._anchor = Anchor(row, section, -y if y <= 0 else -float(self.padding))
        if y > 0:
            self._anchor = Anchor(0, 0, -float(min(self.padding, y)) if y < self.padding else -float(self.padding))

    def limit(self, tired: Tired) -> None:
        """From now on read of long new messages only what there is time for."""
        self._tired = tired

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
        self._trim()
        return self.placed

    def _place(self) -> float:
        """Fill `placed` from the anchor down. Returns where the last section ends."""
        self.placed = []
        row, section, y = self._anchor.row, self._anchor.section, -self._anchor.above
        while y < self.view_height and row < len(self.rows):
            height = self._measure(row, section)
            self.placed.append(Placed(row, section, y, height))
            y += height
            section += 1
            if section >= self.message(row).sections:
                row, section = row + 1, 0
        return y

    def _trim(self) -> None:
        seen = {self.rows[placed.row].id for placed in self.placed}
        while len(self._messages) > KEPT_MESSAGES + len(seen):
            self._messages.popitem(last=False)
        views = sum(len(message.views) for message in self._messages.values())
        for name in list(self._messages):
            if views <= KEPT_VIEWS:
                break
            message = self._messages[name]
            if name not in seen:
                views -= len(message.views)
                message.drop_views()
        if views > KEPT_VIEWS:
            self._trim_seen()

    def _trim_seen(self) -> None:
        """Of very long messages only what is near the view stays laid out."""
        near: dict[str, list[int]] = {}
        for placed in self.placed:
            near.setdefault(self.rows[placed.row].id, []).append(placed.section)
        for name, sections in near.items():
            low, high = min(sections) - 32, max(sections) + 32
            views = self._messages[name].views
            for index in [index for index in views if not low <= index + 1 <= high]:
                del views[index]
