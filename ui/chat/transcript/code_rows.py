"""Code cut into the rows that are drawn. Pure counting, so twenty thousand lines cost milliseconds."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import NamedTuple

from ui.chat.transcript.look import TAB_COLUMNS

LONGEST_ROW = 1000
"""Characters of a row when lines are not wrapped: a longer line goes on below, because drawing it whole is slow."""


class Row(NamedTuple):
    """``start`` and ``end`` bound it in the code; ``line`` is its line's number, which begins at ``line_start``."""

    start: int
    end: int
    line: int
    line_start: int


class CodeRows:
    """The rows of one code block that may grow. ``columns`` None: not wrapped."""

    def __init__(self, columns: int | None) -> None:
        self._columns = columns
        self.rows: list[Row] = []
        self._starts: list[int] = []
        self._code = ""
        self._known_widest = 0
        self.widest = 0
        """Columns of the widest row."""

    def set_code(self, code: str) -> int:
        """Take the code as it is now. Returns the number of the first row that changed."""
        keep = 0
        position = line = 0
        if self.rows and code.startswith(self._code):
            last = self.rows[-1]
            position, line = last.line_start, last.line
            keep = bisect_right(self._starts, position - 1)
        else:
            self._known_widest = 0
        del self.rows[keep:], self._starts[keep:]
        self._code = code
        self._append(code, position, line)
        return keep

    def _append(self, code: str, position: int, number: int) -> None:
        texts = code[position:].split("\n")
        width = 0
        for index, text in enumerate(texts):
            for start, end in _cut(text, self._columns or LONGEST_ROW):
                self.rows.append(Row(position + start, position + end, number, position))
                self._starts.append(position + start)
                width = columns_of(text[start:end])
                if index < len(texts) - 1:
                    self._known_widest = max(self._known_widest, width)
            position += len(text) + 1
            number += 1
        self.widest = max(self._known_widest, width)

    def index_of(self, position: int) -> int:
        """The row in which ``position`` stands."""
        return max(0, bisect_right(self._starts, position) - 1)


def columns_of(text: str) -> int:
    """How many fixed-pitch columns ``text`` takes."""
    if text.isascii():
        return len(text.expandtabs(TAB_COLUMNS)) if "\t" in text else len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if letter == "\t":
        return TAB_COLUMNS
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if unicodedata.combining(letter) else 1


def _cut(text: str, columns: int) -> list[tuple[int, int]]:
    """``text``, one line, in pieces of at most ``columns`` columns; a combining mark stays with its letter."""
    size = len(text)
    plain = text.isascii() and "\t" not in text
    if size <= columns and (plain or columns_of(text) <= columns):
        return [(0, size)]
    if plain:
        return [(start, min(size, start + columns)) for start in range(0, size, columns)]
    result, start, used = [], 0, 0
    for position, letter in enumerate(text):
        width = _width(letter)
        if used + width > columns and position > start:
            result.append((start, position))
            start, used = position, 0
        used += width
    return [*result, (start, size)]
