"""One message: its parts, which of them are laid out, and how high each one is.

A message is a stack of sections: number 0 is the head (the author), then come the parts, and the foot (figures and
buttons) is the last one.
"""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF

from ui.chat.transcript import bubble, estimate
from ui.chat.transcript.blocks import (
    Code,
    Paragraph,
    Part,
    is_mirrored,
)
from ui.chat.transcript.budget import Tired, never
from ui.chat.transcript.heights import Heights
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.notes import Note, NoteKind
from ui.chat.transcript.part_view import PartView
from ui.chat.transcript.part_views import PartViews
from ui.chat.transcript.reading import Folds, RowReader
from ui.chat.transcript.row import Row, is_user
from ui.chat.transcript.row_notes import notes_of
from ui.chat.transcript.sideways import BlockState
from ui.chat.transcript.words import Words

READ_AT_ONCE = 16_384
"""Characters."""
FITTED_TEXT = 3000
"""Characters up to which a bubble is made as narrow as its text."""


class Message:
    """The sections of one row for one look and width.

    Attributes:
        parts: What stands between head and foot.
        heights: Of all sections, laid out or estimated.
        x: Left edge of the content in the column; ``width`` is its width.
    """

    def __init__(self, row: Row, look: Look, words: Words, column: float, folds: Folds) -> None:
        self.row, self.words = row, words
        self.user = is_user(row)
        self.reader = RowReader(row, folds)
        self.parts: list[Part] = []
        self._lead = 0
        self._views = PartViews(look, look.plain, self.part_width)
        self.resize(look, column)

    def resize(self, look: Look, column: float) -> None:
        """Take another look or width: all heights are estimated again, what the user did to blocks stays."""
        self.look, self.column = look, column
        self.ink: Ink = look.bubble if self.user else look.plain
        self._views.dress(look, self.ink)
        self._measure_column()
        estimates = [self._estimate(part) for part in self.parts]
        self.heights = Heights([bubble.head_height(look, self.row), *estimates, bubble.foot_height(look, self.row)])

    @property
    def sections(self) -> int:
        """Head, parts and foot."""
        return len(self.heights)

    @property
    def foot(self) -> int:
        """Number of the last section."""
        return len(self.heights) - 1

    def _measure_column(self) -> None:
        horizontal = self.look.bubble_padding[0] if self.user else 0
        self.width = bubble.widest(self.look, self.column) - 2 * horizontal if self.user else self.column
        self.x = self.column - self.width - horizontal
        self._fitted = not self.user

    # What it says.

    def set_row(self, row: Row, tired: Tired) -> int:
        """Take the row as it is now. Returns the first section that changed.

        What a message grows by while it streams is always read at once, so that its end never goes missing.
        """
        old, was_read = self.row, self.reader.done
        self.row = row
        self.heights.set(self.foot, bubble.foot_height(self.look, row))
        self.reader.set_row(row)
        grown = len(row.text) + len(row.thinking) - len(old.text) - len(old.thinking)
        little = was_read and grown < READ_AT_ONCE
        return self.read(never if little else tired)

    def read(self, tired: Tired) -> int:
        """Read on. Returns the first section that changed."""
        self.reader.advance(tired)
        return self.update_parts()

    def fold(self, *, unfolded: bool) -> None:
        """Show the thought, or hide it."""
        self.reader.fold(unfolded=unfolded)
        self.read(never)

    @property
    def answer_section(self) -> int:
        """Number of the first section behind the thought."""
        return 1 + self.reader.thought_parts

    def update_parts(self) -> int:
        """Lay nothing out, only find what differs from before. Returns the first section that changed."""
        self._keep_states()
        parts = [*self.reader.parts, *notes_of(self.row, self.words, whole=self.reader.done)]
        old, known = self.parts, min(len(self.parts), len(parts))
        first = min(self.reader.stable, known) if old[: self.reader.stable] == parts[: self.reader.stable] else 0
        while first < known and old[first] == parts[first]:
            first += 1
        self.parts = parts
        if first < len(old) or first < len(parts):
            self._replace_from(first)
        return first + 1

    def _keep_states(self) -> None:
        """Blocks of the answer have other numbers when the thought is folded or unfolded."""
        before, now = self._lead, self.reader.thought_parts
        if before != now and 1 in (before, now):
            self._views.shift_states(before, now - before)
        self._lead = now

    def _replace_from(self, first: int) -> None:
        self._views.muted = bool(self.row.stands_for)
        kept = self._views.take(self.parts, first)
        heights = [self._estimate(part) for part in self.parts[first:]]
        if kept is not None:
            heights[0] = self._gap(first) + kept.height
        self.heights.replace(first + 1, len(self.heights) - 1, heights)
        if not self._fitted or self.user:
            self._measure_column()

    # How high it is.

    def _gap(self, index: int) -> float:
        part = self.parts[index]
        return round(part.gap * self.look.em) if index else 0.0

    def gap(self, section: int) -> float:
        """Room above the part of ``section``."""
        return self._gap(section - 1) if 0 < section < self.foot else 0.0

    def _estimate(self, part: Part) -> float:
        if isinstance(part, Note) and part.kind is NoteKind.PROGRESS and not self.reader.done:
            return max(
                self.look.line, self.reader.rest / max(8.0, self.width / self.look.average_column) * self.look.line
            )
        gap = round(part.gap * self.look.em) if self.parts and part is not self.parts[0] else 0
        return gap + estimate.part_height(self.look, part, self.part_width(part))

    def part_x(self, part: Part) -> float:
        """Left edge of a part's text in the content: behind quotation bars and bullets."""
        quotes, bullets = self._indents(part)
        return quotes if is_mirrored(part) else quotes + bullets

    def part_width(self, part: Part) -> float:
        """Width that is left for a part."""
        return max(6 * self.look.em, self.width - sum(self._indents(part)))

    def _indents(self, part: Part) -> tuple[float, float]:
        """Room for quotation bars, and for bullets."""
        quotes = part.frames.count("q") + part.frames.count("t")
        return quotes * self.look.quote_indent, (len(part.frames) - quotes) * self.look.indent

    def part(self, section: int) -> Part | None:
        """The part of ``section``; None for head and foot."""
        return self.parts[section - 1] if 0 < section < self.foot else None

    def code_name(self, section: int) -> str:
        """What tells a code block from the others of the message: nothing when it is the only one, else a number."""
        blocks = [number for number, part in enumerate(self.parts, 1) if isinstance(part, Code)]
        return str(blocks.index(section) + 1) if len(blocks) > 1 else ""

    def measure(self, section: int) -> float:
        """Height of ``section``, exactly: lays it out if need be."""
        if 0 < section < self.foot:
            self._fit_bubble()
            index = section - 1
            unread = not self.reader.done and section == self.foot - 1
            if not unread:
                self.heights.set(section, self._gap(index) + self.view(section).height)
        return self.heights[section]

    @property
    def views(self) -> dict[int, PartView]:
        """Those parts that are laid out, by number."""
        return self._views.shown

    def view(self, section: int) -> PartView:
        """The laid-out part of ``section``."""
        return self._views.view(section - 1)

    def drop_waiting(self) -> bool:
        """Lay out again what shows the source of a formula that was being drawn. True: there was something."""
        return self._views.drop_waiting()

    def drop_views(self, kept: range = range(0)) -> None:
        """Give memory back but for the sections in ``kept``; heights stay known."""
        self._views.drop(range(kept.start - 1, kept.stop - 1))

    def _fit_bubble(self) -> None:
        """Make the bubble as narrow as its text, once."""
        if self._fitted:
            return
        self._fitted = True
        if len(self.row.text) > FITTED_TEXT or not all(isinstance(p, Paragraph) for p in self.parts):
            return
        natural = max((self.view(number + 1).natural_width for number in range(len(self.parts))), default=0.0)
        if natural + 2 < self.width:
            self.x += self.width - ceil(natural) - 2
            self.width = ceil(natural) + 2.0
            self.drop_views()

    def state(self, index: int) -> BlockState:
        """What the user did to the block at ``index``."""
        return self._views.state(index)

    def toggle_wrap(self, section: int) -> None:
        """Wrap the long lines of a code block, or let them be scrolled."""
        self._views.toggle_wrap(section - 1)

    # Where things are.

    def place_in(self, section: int, y: float) -> tuple[int, float]:
        """The character at height ``y`` of ``section``, and how far below its top ``y`` is: true at any width."""
        if not 0 < section < self.foot:
            return 0, y
        view, inside = self.view(section), y - self.gap(section)
        position = view.position_at(QPointF(0, inside)) if view.length else 0
        return position, inside - view.caret(position).top()

    def height_of(self, section: int, place: tuple[int, float]) -> float:
        """The inverse of `place_in`."""
        if not 0 < section < self.foot:
            return place[1]
        view = self.view(section)
        return self.gap(section) + view.caret(min(place[0], view.length)).top() + place[1]
