"""Colours for code by Pygments, in portions, so that long code never holds the window up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from ui.chat.transcript.budget import Tired

Run = tuple[int, int, int]
"""Start and length in a line, and an index into `look.TOKEN_COLOURS`."""

LONGEST_LINE = 2000
"""Code with a longer line is not coloured: it is data, and some lexers are slow on it."""

_CHECK_LINES = 24
_BATCH = 64
_OPENERS = ("@", "<", "#", "$")

_COLOURS: tuple[tuple[Any, int], ...] = (
    (Comment.Preproc, 1),
    (Comment.PreprocFile, 2),
    (Comment, 4),
    (String.Interpol, 3),
    (String.Escape, 3),
    (String, 2),
    (Number, 3),
    (Keyword.Type, 6),
    (Keyword.Constant, 3),
    (Keyword, 1),
    (Operator.Word, 1),
    (Name.Function, 5),
    (Name.Class, 6),
    (Name.Exception, 6),
    (Name.Builtin.Pseudo, 3),
    (Name.Builtin, 5),
    (Name.Decorator, 5),
    (Name.Tag, 1),
    (Name.Attribute, 5),
    (Name.Constant, 3),
    (Name.Namespace, 6),
    (Generic.Deleted, 7),
    (Generic.Inserted, 2),
    (Generic.Heading, 5),
    (Generic.Subheading, 5),
    (Generic.Prompt, 4),
)


@lru_cache(maxsize=512)
def colour_of(token: Any) -> int:
    """Index into `look.TOKEN_COLOURS` for a Pygments token type; 0 is the text colour."""
    return next((colour for kind, colour in _COLOURS if token in kind), 0)


@lru_cache(maxsize=32)
def find_lexer(language: str) -> Lexer | None:
    """The lexer for a fence's language word; None when there is none (then nothing is coloured)."""
    if not language or language.lower() in ("text", "txt", "plain", "plaintext"):
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


class Highlighter:
    """The colours of one code block that may grow.

    A full pass may take long, so it is done in portions. While code streams in, only lines behind a *checkpoint* are
    read again: a line from which reading afresh was seen to give the same colours as reading from the start.

    Attributes:
        done: The colours belong to the present code.
    """

    def __init__(self, language: str) -> None:
        self._lexer = find_lexer(language)
        self._code = ""
        self._lines: list[tuple[Run, ...]] = []
        self._pass: Iterator[tuple[int, Any, str]] | None = None
        self._fresh: list[list[Run]] = []
        self._column = 0
        self._passed_code = ""
        self._checkpoint = (0, 0)
        self.done = True

    def runs(self, line: int) -> tuple[Run, ...]:
        """The coloured runs of line number ``line``; empty while they are not known."""
        return self._lines[line] if line < len(self._lines) else ()

    def set_code(self, code: str) -> None:
        """Take the code as it is now."""
        if code == self._code or self._lexer is None:
            return
        if not code.startswith(self._code):
            self._lines, self._pass, self._checkpoint = [], None, (0, 0)
        self._code = code
        self.done = _has_long_line(code) if self._pass is None else False

    def advance(self, tired: Tired) -> tuple[int, int] | None:
        """Go on until done or ``tired()``. Returns the first and last line that changed, or None."""
        changed: tuple[int, int] | None = None
        while not self.done and self._lexer is not None:
            if self._pass is None:
                self._begin()
            if not self._portion():
                first, last = self._end()
                changed = (min(first, changed[0]), max(last, changed[1])) if changed else (first, last)
            if tired():
                break
        return changed

    def _begin(self) -> None:
        self._passed_code = self._code
        self._fresh, self._column = [[]], 0
        self._pass = self._tokens(self._code[self._checkpoint[1] :])

    def _tokens(self, code: str) -> Iterator[tuple[int, Any, str]]:
        assert self._lexer is not None
        return iter(self._lexer.get_tokens_unprocessed(code))

    def _portion(self) -> bool:
        """Read some tokens. False: the pass is at its end."""
        assert self._pass is not None
        some = list(islice(self._pass, _BATCH))
        self._column = _collect(some, self._fresh, self._column)
        return len(some) == _BATCH

    def _end(self) -> tuple[int, int]:
        start = self._checkpoint[0]
        fresh = [tuple(runs) for runs in self._fresh]
        first = next((i for i, runs in enumerate(fresh) if self.runs(start + i) != runs), len(fresh))
        self._lines[start:] = fresh
        self._pass = None
        self.done = self._passed_code == self._code
        if self.done:
            self._move_checkpoint()
        return start + first, len(self._lines)

    def _move_checkpoint(self) -> None:
        """Put the checkpoint on a later line if reading from there gives the same colours."""
        if len(self._fresh) < 2 * _CHECK_LINES:
            return
        lines = self._code[self._checkpoint[1] :].split("\n")
        candidates = range(len(lines) - _CHECK_LINES, len(lines) - 2 * _CHECK_LINES, -1)
        number = next((n for n in candidates if lines[n][:1].isalpha() or lines[n][:1] in _OPENERS), 0)
        if not number:
            return
        line = self._checkpoint[0] + number
        offset = self._checkpoint[1] + sum(len(one) + 1 for one in lines[:number])
        again: list[list[Run]] = [[]]
        _collect(self._tokens(self._code[offset:]), again, 0)
        if [tuple(runs) for runs in again] == self._lines[line:]:
            self._checkpoint = (line, offset)


def _has_long_line(code: str) -> bool:
    return len(code) > LONGEST_LINE and max(map(len, code.split("\n"))) > LONGEST_LINE


def _collect(tokens: Any, lines: list[list[Run]], column: int) -> int:
    """Append the coloured runs of ``tokens`` to ``lines``; returns the column behind the last one."""
    for _, kind, value in tokens:
        colour = colour_of(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if piece and colour:
                lines[-1].append((column, len(piece), colour))
            column += len(piece)
    return column
