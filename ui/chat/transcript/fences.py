"""Fenced code of the outermost level, read by hand because it may hold far more than a parser's window.

Calls of tools that a model writes though it was given none (``<tool_call>``) are shown whole, as code, in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from ui.chat.transcript.blocks import Code
from ui.chat.transcript.cutting import language_of

_OPENING = re.compile(r"( {0,3})(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})([^\n]*)(\n|\Z)")
_CALL = re.compile(r" {0,3}<tool_call>")
_CALL_END = re.compile(r"^[^\n]*</tool_call>[^\n]*(?:\n|\Z)", re.MULTILINE)
CALL_LANGUAGE = "json"
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
    if not opening:
        return _read_call(text, start, final=final, searched=searched)
    if not (opening.group(4) or final):
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


def _read_call(text: str, start: int, *, final: bool, searched: int) -> Fence | None:
    """The call of a tool that begins at ``start``, with its marks."""
    if not _CALL.match(text, start):
        return None
    found = _CALL_END.search(text, max(start, searched))
    end = found.end() if found and (final or found.group().endswith("\n")) else len(text) if final else None
    code = text[start : found.end() if found else len(text)].rstrip()
    last_line = max(start, text.rfind("\n") + 1)
    return Fence(Code(code=code, language=CALL_LANGUAGE), end, found.start() if found else last_line)


def add_tool_calls(parser: MarkdownIt) -> None:
    """Teach ``parser`` calls of tools: fences without fences, of whole lines, to the end of what they stand in."""
    parser.block.ruler.before("fence", "tool_call", _call, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def _call(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]

    if state.is_code_block(start) or not line(start).startswith("<tool_call>"):
        return False
    if silent:
        return True
    last = start
    while "</tool_call>" not in line(last) and last + 1 < end:
        if not state.isEmpty(last + 1) and state.sCount[last + 1] < state.blkIndent:
            break
        last += 1
    token = state.push("fence", "code", 0)
    token.info, token.markup, token.map = CALL_LANGUAGE, "<tool_call>", [start, last + 1]
    token.content = state.getLines(start, last + 1, state.blkIndent, True).rstrip()
    state.line = last + 1
    return True


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
