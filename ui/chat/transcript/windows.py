"""What a window of Markdown holds: its top-level blocks, and where they lie in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

_UNINDENTED = re.compile(r"^(?=[^ \t\n])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its kind (``paragraph``, ``table``, ...) and its lines, the end not included."""

    kind: str
    start_line: int
    end_line: int
    end_token: int
    """Index behind its last token."""

    @property
    def body_rows(self) -> int:
        """Rows below head and delimiter, if it is a table."""
        return self.end_line - self.start_line - 2


def top_level(tokens: Sequence[Token]) -> list[Block]:
    """The outermost blocks of a parse in order."""
    blocks: list[Block] = []
    kind, lines = "", [0, 0]
    for index, token in enumerate(tokens):
        if token.level or token.type == "inline":
            continue
        if token.nesting >= 0:
            kind, lines = token.type.removesuffix("_open"), token.map or lines
        if token.nesting <= 0:
            blocks.append(Block(kind, lines[0], lines[1], index + 1))
    return blocks


def offset_of_line(source: str, line: int) -> int:
    """Position where line number ``line`` (from 0) begins; the length when there are fewer."""
    position = 0
    for _ in range(line):
        position = source.find("\n", position) + 1
        if not position:
            return len(source)
    return position


def lines_of(source: str, first: int, count: int) -> str:
    """``count`` lines from line number ``first`` on."""
    start = offset_of_line(source, first)
    return source[start : start + offset_of_line(source[start:], count)]


def place_to_cut(source: str) -> int:
    """Where to cut a block that is too long: the last line that is not indented, in the second half if there is one."""
    starts = [match.start() for match in _UNINDENTED.finditer(source, len(source) // 2)]
    return starts[-1] if starts and starts[-1] else len(source)
