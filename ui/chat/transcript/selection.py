"""What is selected, over messages and blocks, and the text that it copies."""

from __future__ import annotations

from dataclasses import dataclass

from ui.chat.transcript.blocks import Part, Table, ThoughtHead, in_thought, plain_text, separator
from ui.chat.transcript.budget import never
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.message import Message
from ui.chat.transcript.part_view import Range
from ui.chat.transcript.qt_text import copiable
from ui.chat.transcript.row import Row, is_user

Spot = tuple[int, int, int]
"""A place for a caret: row, section, position. Spots compare in reading order."""

LARGE = 400_000
"""Characters from which whole messages are copied as they were written, because laying out so many words takes long."""


@dataclass(slots=True)
class Selection:
    """From where the user began to where the caret is."""

    anchor: Spot | None = None
    cursor: Spot | None = None

    def clear(self) -> None:
        """Nothing is selected."""
        self.anchor = self.cursor = None

    def start(self, spot: Spot) -> None:
        """Put the caret down."""
        self.anchor = self.cursor = spot

    def extend(self, spot: Spot) -> None:
        """Move the caret, the other end stays."""
        if self.anchor is None:
            self.anchor = spot
        self.cursor = spot

    @property
    def ends(self) -> tuple[Spot, Spot] | None:
        """First and last spot, None when nothing is selected."""
        if self.anchor is None or self.cursor is None or self.anchor == self.cursor:
            return None
        first, last = sorted((self.anchor, self.cursor))
        return first, last

    def range_in(self, row: int, section: int, length: int) -> Range | None:
        """The selected characters of a section with ``length`` characters."""
        ends = self.ends
        if ends is None or not ends[0][:2] <= (row, section) <= ends[1][:2]:
            return None
        start = ends[0][2] if ends[0][:2] == (row, section) else 0
        end = ends[1][2] if ends[1][:2] == (row, section) else length + 1
        return (start, end) if start < end else None

    def shift(self, first: int, count: int) -> None:
        """``count`` rows came (or went, when negative) at ``first``; a selection that loses an end is dropped."""
        spots = []
        for spot in (self.anchor, self.cursor):
            if spot is None:
                return
            if count < 0 and first <= spot[0] < first - count:
                self.clear()
                return
            spots.append((spot[0] + count, spot[1], spot[2]) if spot[0] >= first else spot)
        self.anchor, self.cursor = spots


def selected_text(layout: Layout, selection: Selection) -> str:
    """The selected words, lines ending in ``\\n``; list items keep their bullets."""
    ends = selection.ends
    if ends is None:
        return ""
    first, last = ends
    rows = range(first[0], min(last[0], len(layout.rows) - 1) + 1)
    large = sum(len(layout.rows[row].text) for row in rows) > LARGE
    texts = [_row_text(layout, row, selection, large=large and row not in (first[0], last[0])) for row in rows]
    return copiable("\n\n".join(text for text in texts if text))


def _row_text(layout: Layout, number: int, selection: Selection, *, large: bool) -> str:
    row = layout.rows[number]
    if large:
        return row.text
    result, above = "", None
    for index, part in enumerate(parts_of(layout, number)):
        text = plain_text_of(part)
        chosen = selection.range_in(number, index + 1, len(text))
        if chosen is None or isinstance(part, ThoughtHead):
            continue
        if above is not None:
            result += "\n" if is_user(row) and above is part else separator(above, part)
        result += (_lead(part) if chosen[0] == 0 else "") + text[slice(*chosen)]
        above = part
    return result


def parts_of(layout: Layout, number: int) -> list[Part]:
    """All parts of a row, read to the end."""
    known = layout.messages.known(number)
    if known is not None and known.reader.done:
        return known.parts
    messages = layout.messages
    message = Message(layout.rows[number], layout.look, messages.words, layout.column, messages.folds)
    message.read(never)
    return message.parts


def plain_text_of(part: Part) -> str:
    """Text of a part or of a note."""
    text = getattr(part, "text", None)
    return text if isinstance(text, str) else plain_text(part)


def _lead(part: Part) -> str:
    """Indentation and bullets of a list item in copied text."""
    if not part.marker or isinstance(part, Table):
        return ""
    markers = (*part.outer_markers, part.marker)
    depth = part.frames.count("l") - len(markers)
    return "  " * depth + "".join("- " if marker == "•" else marker + " " for marker in markers)


def message_text(layout: Layout, number: int) -> str:
    """All words of one message, but not what the model thought before."""
    thought = sum(map(in_thought, parts_of(layout, number)))
    whole = Selection((number, 1 + thought, 0), (number, 1 << 30, 0))
    return selected_text(layout, whole)


def thought_source(row: Row) -> str:
    """The thought as it was written."""
    return copiable(row.thinking)


def source_text(row: Row) -> str:
    """The message as it was written."""
    return copiable(row.text)
