"""Fenced code of the outermost level, read by hand because it may hold far more than a parser's window."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui.chat.transcript.blocks import Code
from ui.chat.transcript.cutting import language_of

_OPENING = re.compile(r"( {0,3})(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})([^\n]*)(\n|\Z)")
_CLOSING_BEGUN = re.compile(r" {0,3}(?:`+|~+)[ \t]*")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block. ``end`` is the position behind it, None while it may go on; ``searched``: look on from there."""

    block: Code
    end: int | None
    searched: int


def read_fence(text: str, start: int, *, final: bool, searched: int = 0) -> Fence | None:
    """The fence that opens at ``start``, which is the start of a line; None when there is none (yet)."""
    opening = _OPENING.match(text, start)
    if not opening or not (opening.group(4) or final):
        return None
    body, marker = opening.end(), opening.group(2)
    closing = re.compile(rf"^ {{0,3}}{re.escape(marker[0])}{{{len(marker)},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
    found = closing.search(text, max(body, searched))
    if found:
        ended = final or found.group().endswith("\n")
        block = _code(opening, text[body : found.start()])
        return Fence(block, found.end() if ended else None, found.start())
    kept, end, line = text[body:].rpartition("\n")
    code = kept + end
    if not (line.isspace() if final else _CLOSING_BEGUN.fullmatch(line)):
        code += line
    last_line = max(body, text.rfind("\n") + 1)
    return Fence(_code(opening, code), len(text) if final else None, last_line)


def _code(opening: re.Match[str], code: str) -> Code:
    if indent := len(opening.group(1)):
        code = "\n".join(_without_indent(line, indent) for line in code.split("\n"))
    return Code(code=code.removesuffix("\n"), language=language_of(opening.group(3)))


def _without_indent(line: str, columns: int) -> str:
    """``line`` without up to ``columns`` columns of white space; what is left of a cut tab becomes spaces."""
    column = position = 0
    while position < len(line) and column < columns and line[position] in " \t":
        column += 4 - column % 4 if line[position] == "\t" else 1
        position += 1
    return " " * max(0, column - columns) + line[position:]
