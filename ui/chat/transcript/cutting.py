"""Cuts what is too large to be laid out in one go: paragraphs, tables."""

from __future__ import annotations

import re

from markdown_it.common.utils import unescapeAll

from ui.chat.transcript.blocks import BLOCK_GAP, Span, Styled, Table

MAX_PARAGRAPH = 4096
"""Characters of one laid-out paragraph; a longer one becomes several that look like one."""

CELLS_IN_A_SLICE = 192
ROWS_IN_A_SLICE = 24
_BREAK = re.compile(r"\s")


def rows_in_a_slice(columns: int) -> int:
    """How many rows of a table with ``columns`` columns are laid out together."""
    return max(1, min(ROWS_IN_A_SLICE, CELLS_IN_A_SLICE // max(1, columns)))


def table_parts(header: tuple[Styled, ...], rows: list[tuple[Styled, ...]], aligns: str, first_row: int) -> list[Table]:
    """A table as slices; ``first_row`` is the number of the first of ``rows``, a multiple of the slice."""
    step = rows_in_a_slice(len(aligns))
    starts = range(0, len(rows) if first_row else max(1, len(rows)), step)
    return [
        Table(
            header=header,
            rows=tuple(rows[start : start + step]),
            aligns=aligns,
            first_row=first_row + start,
            gap=0.0 if first_row + start else BLOCK_GAP,
        )
        for start in starts
    ]


def language_of(info: str) -> str:
    """The language word of a fence's info string: ``c++ title="x"`` is ``c++``, ``{.py}`` is ``py``."""
    words = unescapeAll(info).split(maxsplit=1)
    return words[0].strip("{}.").split(",")[0].split("{")[0][:40] if words else ""


def pieces(content: Styled) -> list[Styled]:
    """``content`` in pieces of at most `MAX_PARAGRAPH` characters, cut at white space where there is some."""
    if len(content.text) <= MAX_PARAGRAPH:
        return [content]
    result = []
    start = 0
    while start < len(content.text):
        end = min(len(content.text), start + MAX_PARAGRAPH)
        if end < len(content.text):
            spaces = [m.end() for m in _BREAK.finditer(content.text, end - 256, end)]
            end = spaces[-1] if spaces else end
        result.append(cut(content, start, end))
        start = end
    return result


def cut(content: Styled, start: int, end: int) -> Styled:
    """The characters from ``start`` to ``end`` with their runs."""
    spans = []
    for span in content.spans:
        low, high = max(start, span.start), min(end, span.start + span.length)
        if low < high:
            spans.append(Span(low - start, high - low, span.style, span.href))
    return Styled(content.text[start:end], tuple(spans))


def tail(content: Styled, start: int) -> Styled:
    """What follows ``start``."""
    return cut(content, start, len(content.text))
