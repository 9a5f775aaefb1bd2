"""One message: its parts, which of them are laid out, and how high each one is.

A message is a stack of sections: number 0 is the head (the author), then come the parts, and the foot (figures and
buttons) is the last one.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import ceil

from PySide6.QtCore import QPointF

from engine.chat.records import Role, Status
from ui.chat.transcript import estimate
from ui.chat.transcript.blocks import (
    PARAGRAPH_GAP,
    Code,
    Formula,
    Paragraph,
    Part,
    Rule,
    Table,
    ThoughtHead,
    in_thought,
    is_mirrored,
)
from ui.chat.transcript.budget import Tired, never
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.formula_view import formula_view
from ui.chat.transcript.heights import Heights
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.notes import Note, NoteKind, NoteView, RuleView, ThoughtHeadView
from ui.chat.transcript.part_view import PartView
from ui.chat.transcript.reading import Folds, RowReader
from ui.chat.transcript.row import Row, is_open, is_user
from ui.chat.transcript.sideways import BlockState
from ui.chat.transcript.table_view import TableView, column_widths
from ui.chat.transcript.text_view import TextView
from ui.chat.transcript.words import Words

BUBBLE_SHARE = 0.86
"""Widest bubble, as a share of the column."""
NARROW_SHARE = 0.5
"""The same where the column is too narrow for all the buttons beside it."""
ROOM_FOR_BUTTONS = 192
"""Pixels left of the widest bubble; they grow with the text, but buttons never shrink with it."""
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
        self.views: dict[int, PartView] = {}
        self._states: dict[int, BlockState] = {}
        self._lead = 0
        self._widths: dict[int, tuple[float, ...]] = {}
        self.resize(look, column)

    def resize(self, look: Look, column: float) -> None:
        """Take another look or width: all heights are estimated again, what the user did to blocks stays."""
        self.look, self.column = look, column
        self.ink: Ink = look.bubble if self.user else look.plain
        self.views.clear()
        self._widths.clear()
        self._measure_column()
        estimates = [self._estimate(part) for part in self.parts]
        self.heights = Heights([self.head_height, *estimates, self.foot_height])

    @property
    def sections(self) -> int:
        """Head, parts and foot."""
        return len(self.heights)

    @property
    def foot(self) -> int:
        """Number of the last section."""
        return len(self.heights) - 1

    @property
    def head_height(self) -> float:
        """Gap above, author, room below, and the bubble's upper padding."""
        name = ceil(self.look.small_metrics.height())
        return self.look.message_gap + name + self.look.px(6) + (self.look.bubble_padding[1] if self.user else 0)

    @property
    def foot_height(self) -> float:
        """The row of buttons and figures; a user's buttons stand beside the bubble, only its lower padding is here."""
        if not self.user:
            return self.look.target + self.look.px(2)
        versions = self.look.target if self.row.versions > 1 else 0
        return self.look.bubble_padding[1] + self.look.px(4) + versions

    def _measure_column(self) -> None:
        horizontal = self.look.bubble_padding[0] if self.user else 0
        beside = self.column - max(ROOM_FOR_BUTTONS, self.look.px(ROOM_FOR_BUTTONS))
        widest = max(self.column * NARROW_SHARE, min(self.column * BUBBLE_SHARE, beside))
        self.width = widest - 2 * horizontal if self.user else self.column
        self.x = self.column - self.width - horizontal
        self._fitted = not self.user

    # What it says.

    def set_row(self, row: Row, tired: Tired) -> int:
        """Take the row as it is now. Returns the first section that changed.

        What a message grows by while it streams is always read at once, so that its end never goes missing.
        """
        old, was_read = self.row, self.reader.done
        self.row = row
        self.heights.set(self.foot, self.foot_height)
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
        parts = [*self.reader.parts, *self._notes()]
        old, known = self.parts, min(len(self.parts), len(parts))
        first = min(self.reader.stable, known) if old[: self.reader.stable] == parts[: self.reader.stable] else 0
        while first < known and old[first] == parts[first]:
            first += 1
        self.parts = parts
        if first < len(old) or first < len(parts):
            self._replace_from(first, old)
        return first + 1

    def _keep_states(self) -> None:
        """Blocks of the answer have other numbers when the thought is folded or unfolded."""
        before, now = self._lead, self.reader.thought_parts
        if before != now and 1 in (before, now):
            self._states = {index + now - before: state for index, state in self._states.items() if index >= before}
        self._lead = now

    def _replace_from(self, first: int, old: Sequence[Part]) -> None:
        if first and isinstance(self.parts[first - 1], Table):
            self.views.pop(first - 1, None)
        view = self.views.get(first)
        kept = self._grow(view, first) if view else False
        for index in [index for index in self.views if index > first or (index == first and not kept)]:
            del self.views[index]
        for index in [index for index in self._widths if index >= first]:
            del self._widths[index]
        heights = [self._estimate(part) for part in self.parts[first:]]
        if view and kept:
            heights[0] = self._gap(first) + view.height
        self.heights.replace(first + 1, len(self.heights) - 1, heights)
        if not self._fitted or self.user:
            self._measure_column()

    def _grow(self, view: PartView, index: int) -> bool:
        """Whether the code view in place could take over the changed part."""
        part = self.parts[index] if index < len(self.parts) else None
        if isinstance(view, CodeView) and isinstance(part, Code) and part.language == view.language:
            view.set_part(part)
            return True
        return False

    def _notes(self) -> list[Part]:
        row, empty = self.row, not self.row.text.strip()
        bare = empty and not row.thinking
        above = 0.0 if bare else PARAGRAPH_GAP
        if not self.reader.done:
            return [Note(text=self.words.preparing, kind=NoteKind.PROGRESS, gap=PARAGRAPH_GAP)]
        if row.error:
            kind = NoteKind.FAILED if row.status is Status.FAILED else NoteKind.CUT
            return [Note(text=row.error, kind=kind, gap=above)]
        if not empty or not (row.role is Role.ASSISTANT or row.stands_for):
            return []
        if is_open(row):
            idle = bool(row.thinking) and not row.progress
            return [] if idle else [Note(text=row.progress, kind=NoteKind.PROGRESS, gap=above)]
        nothing = self.words.nothing_instead if row.stands_for else self.words.no_answer
        return [Note(text=nothing, kind=NoteKind.QUIET, gap=above)] if row.status is Status.DONE else []

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

    def view(self, section: int) -> PartView:
        """The laid-out part of ``section``."""
        index = section - 1
        if index not in self.views:
            self.views[index] = self._make_view(index)
        return self.views[index]

    def drop_waiting(self) -> bool:
        """Lay out again what shows the source of a formula that was being drawn. True: there was something."""
        waiting = [index for index, view in self.views.items() if view.waits]
        for index in waiting:
            if isinstance(self.views.pop(index), TableView):
                self._widths.clear()
        if self._widths == {} and waiting:
            self.views = {index: view for index, view in self.views.items() if not isinstance(view, TableView)}
        return bool(waiting)

    def drop_views(self, kept: Container[int] = ()) -> None:
        """Give memory back but for the sections in ``kept``; heights stay known."""
        for index in [index for index in self.views if index + 1 not in kept]:
            del self.views[index]

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

    def _make_view(self, index: int) -> PartView:
        part = self.parts[index]
        width = self.part_width(part)
        if isinstance(part, Code):
            return CodeView(self.look, self.ink, width, part, self.state(index))
        if isinstance(part, Table):
            return self._make_table(index, part, width)
        if isinstance(part, Note):
            return NoteView(self.look, self.ink, width, part)
        colour = "muted" if in_thought(part) or self.row.stands_for else "text"
        if isinstance(part, Formula):
            return formula_view(self.look, self.ink, width, part, self.state(index), colour)
        if isinstance(part, Paragraph):
            return TextView(self.look, self.ink, width, part.content, level=part.level, colour=colour)
        if isinstance(part, ThoughtHead):
            return ThoughtHeadView(self.look, self.ink, width)
        assert isinstance(part, Rule)
        return RuleView(self.look, self.ink, width)

    def _make_table(self, index: int, part: Table, width: float) -> TableView:
        first = index
        while first and isinstance(above := self.parts[first], Table) and above.first_row:
            first -= 1
        head = self.parts[first]
        assert isinstance(head, Table)
        if first not in self._widths:
            self._widths[first] = column_widths(self.look, head, width)
        below = self.parts[index + 1] if index + 1 < len(self.parts) else None
        last = not (isinstance(below, Table) and below.first_row)
        return TableView(self.look, self.ink, width, part, self._widths[first], self.state(first), last=last)

    def state(self, index: int) -> BlockState:
        """What the user did to the block at ``index``."""
        return self._states.setdefault(index, BlockState())

    def toggle_wrap(self, section: int) -> None:
        """Wrap the long lines of a code block, or let them be scrolled."""
        state = self.state(section - 1)
        state.wrap, state.scroll = not state.wrap, 0.0
        self.views.pop(section - 1, None)

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
