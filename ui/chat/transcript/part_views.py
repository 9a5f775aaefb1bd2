"""The parts of one message that are laid out, and what the user did to its blocks."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from ui.chat.transcript.blocks import Code, Formula, Paragraph, Part, Rule, Table, ThoughtHead, in_thought
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.formula_view import formula_view
from ui.chat.transcript.look import Ink, Look
from ui.chat.transcript.notes import Note, NoteView, RuleView, ThoughtHeadView
from ui.chat.transcript.part_view import PartView
from ui.chat.transcript.sideways import BlockState
from ui.chat.transcript.table_view import TableView, column_widths
from ui.chat.transcript.text_view import TextView


class PartViews:
    """Views by the number of their part; made when asked for.

    Args:
        width_of: Width that is left for a part.

    Attributes:
        shown: Those that there are.
        muted: All of it is said in a low voice.
    """

    def __init__(self, look: Look, ink: Ink, width_of: Callable[[Part], float]) -> None:
        self._width_of = width_of
        self._parts: Sequence[Part] = ()
        self._states: dict[int, BlockState] = {}
        self._widths: dict[int, tuple[float, ...]] = {}
        self.shown: dict[int, PartView] = {}
        self.muted = False
        self.dress(look, ink)

    def dress(self, look: Look, ink: Ink) -> None:
        """Take another look, or another width: all is laid out again, what the user did stays."""
        self._look, self._ink = look, ink
        self.shown.clear()
        self._widths.clear()

    def take(self, parts: Sequence[Part], first: int) -> PartView | None:
        """``parts`` are others from number ``first`` on. Returns the view there if it could take its part over."""
        self._parts = parts
        if first and isinstance(parts[first - 1], Table):
            self.shown.pop(first - 1, None)
        grown = self._grow(first)
        for index in [index for index in self.shown if index > first or (index == first and grown is None)]:
            del self.shown[index]
        for index in [index for index in self._widths if index >= first]:
            del self._widths[index]
        return grown

    def _grow(self, index: int) -> PartView | None:
        view = self.shown.get(index)
        part = self._parts[index] if index < len(self._parts) else None
        if isinstance(view, CodeView) and isinstance(part, Code) and part.language == view.language:
            view.set_part(part)
            return view
        return None

    def shift_states(self, start: int, by: int) -> None:
        """Blocks from number ``start`` on have others numbers now; those before are gone."""
        self._states = {index + by: state for index, state in self._states.items() if index >= start}

    def view(self, index: int) -> PartView:
        """The laid-out part number ``index``."""
        if index not in self.shown:
            self.shown[index] = self._make(index)
        return self.shown[index]

    def drop(self, kept: Container[int] = ()) -> None:
        """Give memory back but for the numbers in ``kept``."""
        for index in [index for index in self.shown if index not in kept]:
            del self.shown[index]

    def drop_waiting(self) -> bool:
        """Lay out again what shows the source of a formula that was being drawn. True: there was something."""
        waiting = [index for index, view in self.shown.items() if view.waits]
        for index in waiting:
            if isinstance(self.shown.pop(index), TableView):
                self._widths.clear()
        if self._widths == {} and waiting:
            self.shown = {index: view for index, view in self.shown.items() if not isinstance(view, TableView)}
        return bool(waiting)

    def state(self, index: int) -> BlockState:
        """What the user did to the block at ``index``."""
        return self._states.setdefault(index, BlockState())

    def toggle_wrap(self, index: int) -> None:
        """Wrap the long lines of a code block, or let them be scrolled."""
        state = self.state(index)
        state.wrap, state.scroll = not state.wrap, 0.0
        self.shown.pop(index, None)

    def _make(self, index: int) -> PartView:
        part, look, ink = self._parts[index], self._look, self._ink
        width = self._width_of(part)
        if isinstance(part, Code):
            return CodeView(look, ink, width, part, self.state(index))
        if isinstance(part, Table):
            return self._make_table(index, part, width)
        if isinstance(part, Note):
            return NoteView(look, ink, width, part)
        colour = "muted" if in_thought(part) or self.muted else "text"
        if isinstance(part, Formula):
            return formula_view(look, ink, width, part, self.state(index), colour)
        if isinstance(part, Paragraph):
            return TextView(look, ink, width, part.content, level=part.level, colour=colour)
        if isinstance(part, ThoughtHead):
            return ThoughtHeadView(look, ink, width)
        assert isinstance(part, Rule)
        return RuleView(look, ink, width)

    def _make_table(self, index: int, part: Table, width: float) -> TableView:
        first = index
        while first and isinstance(above := self._parts[first], Table) and above.first_row:
            first -= 1
        head = self._parts[first]
        assert isinstance(head, Table)
        if first not in self._widths:
            self._widths[first] = column_widths(self._look, head, width)
        below = self._parts[index + 1] if index + 1 < len(self._parts) else None
        last = not (isinstance(below, Table) and below.first_row)
        return TableView(self._look, self._ink, width, part, self._widths[first], self.state(first), last=last)
