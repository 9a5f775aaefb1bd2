"""Heights before anything is laid out: good enough that the scroll bar hardly moves when the truth is known."""

from __future__ import annotations

from math import ceil

from ui.chat.transcript.blocks import (
    PARAGRAPH_GAP,
    Code,
    Formula,
    Paragraph,
    Part,
    Table,
    ThoughtHead,
    plain_text,
    table_lines,
)
from ui.chat.transcript.look import HEADING_SIZES, Look


def text_height(look: Look, text: str, width: float) -> float:
    """Height of a whole message text."""
    per_line = max(8.0, width / look.average_column)
    breaks = text.count("\n")
    paragraphs = text.count("\n\n")
    lines = len(text) / per_line + 0.6 * (breaks - paragraphs) + 1
    return ceil(lines) * look.line + paragraphs * PARAGRAPH_GAP * look.em


def part_height(look: Look, part: Part, width: float) -> float:
    """Height of one part without the gap above it."""
    if isinstance(part, Code):
        return look.target + (part.code.count("\n") + 1) * look.code_line + look.px(12)
    if isinstance(part, Table):
        return len(table_lines(part)) * (look.line + 2 * look.cell_padding[1])
    if isinstance(part, Formula):
        return (2 + part.latex.count(r"\\") * 1.5) * look.line
    if isinstance(part, ThoughtHead):
        return float(look.target)
    level = part.level if isinstance(part, Paragraph) else 0
    line = look.line * HEADING_SIZES[level]
    per_line = max(8.0, width / (look.average_column * HEADING_SIZES[level]))
    text = plain_text(part)
    return sum(max(1, ceil(len(one) / per_line)) for one in text.split("\n")) * line
