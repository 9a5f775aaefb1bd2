"""What a message consists of once its Markdown is understood: values, no geometry, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from ui.chat.transcript.qt_text import is_right_to_left


class Style(IntFlag):
    """How a run of characters looks."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    LINK = 16
    PICTURE = 32
    """The description of a picture, which is never loaded."""
    MATH = 64
    """A formula with its delimiters, drawn in its place."""
    RAISED = 128
    """The mark of a footnote."""


@dataclass(frozen=True, slots=True)
class Span:
    """A styled run of a text. ``start`` and ``length`` count characters; ``href`` is the address of a link."""

    start: int
    length: int
    style: Style
    href: str = ""


@dataclass(frozen=True, slots=True)
class Styled:
    """Text with its runs; line ends are ``\\n``."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece of a message that is laid out by itself.

    Attributes:
        frames: What it stands in, outermost first: ``t`` a thought, ``q`` a quotation, ``l`` a list item.
        fresh: So many frames, the innermost ones, begin with it.
        marker: Bullet, number or check box left of it: ``•``, ``12.``, ``[ ]``, ``[x]``; empty for none. It belongs to
            the innermost list item.
        outer_markers: Of the items around that begin with it too, outermost first.
        gap: Room above it in ems.
    """

    frames: str = ""
    fresh: int = 0
    marker: str = ""
    outer_markers: tuple[str, ...] = ()
    gap: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph(Part):
    """Running text. ``level`` 1..6 is a heading, 0 is not. ``joined``: goes on where the part above was cut."""

    content: Styled
    level: int = 0
    joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code(Part):
    """A code block: ``code`` is exactly what stands between the fences, without the last line end."""

    code: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Part):
    """Some rows of a table. A large one comes in several parts: ``first_row`` is the number of the first body row here.

    ``aligns`` holds ``l``, ``c`` or ``r`` for each column.
    """

    header: tuple[Styled, ...]
    rows: tuple[tuple[Styled, ...], ...]
    aligns: str
    first_row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula(Part):
    """A formula on a line of its own. ``source`` is what was written, delimiters included."""

    latex: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Part):
    """A horizontal line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtHead(Part):
    """The line that folds a thought: what it says is drawn by its button."""


def in_thought(part: Part) -> bool:
    """Whether ``part`` belongs to what the model thought, not to its answer."""
    return isinstance(part, ThoughtHead) or part.frames.startswith("t")


def is_mirrored(part: Part) -> bool:
    """Whether ``part`` is an item of a list that is read from the right: its bullet stands there."""
    return "l" in part.frames and isinstance(part, Paragraph) and is_right_to_left(part.content.text)


def plain_text(part: Part) -> str:
    """What is read, searched, selected and copied: the text of ``part`` without markup."""
    if isinstance(part, Paragraph):
        return part.content.text
    if isinstance(part, Code):
        return part.code
    if isinstance(part, Formula):
        return part.source
    if isinstance(part, Table):
        return "\n".join("\t".join(cell.text for cell in row) for row in table_lines(part))
    return ""


def table_lines(table: Table) -> tuple[tuple[Styled, ...], ...]:
    """The rows that are shown: the header leads the first part only."""
    return (table.header, *table.rows) if table.first_row == 0 else table.rows


def separator(above: Part, below: Part) -> str:
    """What stands between two neighbours in copied text."""
    if isinstance(below, Paragraph) and below.joined:
        return ""
    if isinstance(below, Table) and below.first_row:
        return "\n"
    if below.marker and (above.marker or above.frames) and below.gap < LOOSE_GAP:
        return "\n"
    return "\n\n"


PARAGRAPH_GAP = 0.8
TIGHT_GAP = 0.3
LOOSE_GAP = 0.6
HEADING_GAPS = {1: 1.5, 2: 1.4, 3: 1.2, 4: 1.0, 5: 1.0, 6: 1.0}
BLOCK_GAP = 0.85
