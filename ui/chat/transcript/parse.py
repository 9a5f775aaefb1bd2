"""Growing Markdown to parts: what is finished is read once, only the end is read again.

The text is taken in windows of whole lines. All top-level blocks of a window but the last are final, because no later
line can change them, so reading goes on behind them. A block that does not end within `Limits.block` characters is cut
there; a table goes on behind any finished slice of rows. All these places depend on the text alone, never on the
portions in which it came, therefore a streamed text ends up as the same parts as one that came whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markdown_it.token import Token

from ui.chat.transcript.blocks import BLOCK_GAP, Paragraph, Part
from ui.chat.transcript.budget import Tired
from ui.chat.transcript.cutting import rows_in_a_slice
from ui.chat.transcript.fences import read_fence
from ui.chat.transcript.math_rules import open_line
from ui.chat.transcript.repair import presentable
from ui.chat.transcript.tokens import Builder, make_parser, references_of
from ui.chat.transcript.windows import Block, lines_of, offset_of_line, place_to_cut, top_level

GROWTH = 1.2
"""A block that was found unfinished is looked at again when it is so many times as long."""

_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Limits:
    """Characters: ``window`` is looked at first, ``block`` is the longest block, ``row`` the longest table row."""

    window: int = 1024
    block: int = 8192
    row: int = 131072


class MarkdownStream:
    """The parts of a Markdown text that grows.

    Attributes:
        parts: What is known so far.
        done: The whole text was read.
    """

    def __init__(self, limits: Limits = Limits()) -> None:
        self._markdown = make_parser()
        self._limits = limits
        self._text = ""
        self._final = False
        self._references: dict[str, Any] = {}
        self._restart()

    def _restart(self) -> None:
        self._pos = 0
        self._stable: list[Part] = []
        self.parts: list[Part] = []
        self._head, self._row = "", 0
        """First two lines of the table that goes on at ``_pos``, and the number of its next row."""
        self._joined = False
        """The line before ``_pos`` was cut in its middle."""
        self._went_on = False
        """The block before ``_pos`` was cut."""
        self._searched = self._checked = 0
        self._window = self._limits.window
        self.done = not self._text

    @property
    def stable(self) -> int:
        """How many of the first `parts` cannot change any more."""
        return len(self._stable)

    @property
    def share(self) -> float:
        """How much of the text was read, 0..1."""
        return 1.0 if self.done or not self._text else self._pos / len(self._text)

    def set_text(self, text: str, *, final: bool) -> None:
        """Take the whole text as it is now, cheap when it only grew. ``final``: nothing will follow."""
        if text == self._text and final == self._final:
            return
        grew = text.startswith(self._text) and not self._final
        self._text, self._final = text, final
        if not grew:
            self._references = {}
            self._restart()
        self.done = False

    def advance(self, tired: Tired) -> None:
        """Read on until all is read or ``tired()`` says that it is enough for now."""
        while not self.done:
            self._skip_blank_lines()
            if self._pos >= len(self._text):
                self.done = self._show([])
            else:
                self.done = self._take_fence() or self._take_window()
            if not self.done and tired():
                self.parts = list(self._stable)
                return

    def _skip_blank_lines(self) -> None:
        if not self._joined and (blank := _BLANK_LINES.match(self._text, self._pos)):
            self._pos = blank.end()
            self._head = ""

    def _show(self, tail: Sequence[Part]) -> bool:
        """The end is reached; ``tail`` may still change. Returns True, as a step does that leaves nothing to read."""
        self.parts = [*self._stable, *tail]
        return True

    def _commit(self, parts: Sequence[Part], end: int) -> bool:
        """``parts`` are final and end at ``end``. Returns False: go on reading."""
        self._stable.extend(parts)
        self._pos = self._searched = self._checked = end
        self._window = self._limits.window
        self._joined = self._went_on = False
        return False

    def _take_fence(self) -> bool:
        """Read the fence at the present place. True: it is all there is for now."""
        while not self._joined:
            fence = read_fence(self._text, self._pos, final=self._final, searched=self._searched)
            if fence is None:
                return False
            self._head = ""
            self._searched = fence.searched
            block = replace(fence.block, gap=BLOCK_GAP if self._stable else 0.0)
            if fence.end is None:
                return self._show([block])
            self._commit([block], fence.end)
            self._skip_blank_lines()
        return False

    def _take_window(self) -> bool:
        """Read the next portion. True: the end is reached."""
        start, size = self._pos, len(self._text)
        if size - start > self._window:
            end = self._text.rfind("\n", start, start + self._window) + 1
            if end > start and self._commit_finished(self._text[start:end]):
                return False
            if self._window < self._limits.block:
                self._window = min(2 * self._window, self._limits.block)
                return False
            return self._cut(end) if end > start else self._cut_line()
        if self._final:
            return self._commit_rest()
        complete = self._text.rfind("\n", start) + 1
        if complete - start > GROWTH * (self._checked - start):
            if self._commit_finished(self._text[start:complete]):
                return False
            self._checked = complete
        return self._show(self._build(self._parse(presentable(self._head + self._text[start:]))[0]))

    def _parse(self, source: str) -> tuple[list[Token], dict[str, Any]]:
        environment: dict[str, Any] = {"references": dict(self._references)}
        tokens = self._markdown.parse(source, environment)
        return tokens, references_of(environment)

    def _build(self, tokens: Sequence[Token]) -> list[Part]:
        parts = Builder(first=not self._stable, first_row=self._row if self._head else 0).build(tokens)
        if self._went_on and parts:
            parts[0] = replace(parts[0], fresh=0)
        if self._joined and parts and isinstance(parts[0], Paragraph):
            parts[0] = replace(parts[0], joined=True, gap=0.0)
        return parts

    def _commit_rest(self) -> bool:
        tokens, references = self._parse(self._head + self._text[self._pos :])
        if self._learn(references):
            return False
        return self._commit(self._build(tokens), len(self._text))

    def _commit_finished(self, source: str) -> bool:
        """Keep what no later line can change of ``source``, which is whole lines. False: nothing is finished."""
        whole = self._head + source
        tokens, references = self._parse(whole)
        blocks = top_level(tokens)
        if self._head and (not blocks or blocks[0].end_line <= 2):
            self._head = ""
            return True
        if not blocks:
            return False
        open_formula = open_line(whole)
        if open_formula is not None:
            blocks = [*(block for block in blocks[:-1] if block.end_line <= open_formula), blocks[-1]]
        last, above = blocks[-1], blocks[-2] if len(blocks) > 1 else None
        if last.kind == "table":
            step = rows_in_a_slice(_columns(tokens[above.end_token if above else 0 :]))
            if full := last.body_rows // step:
                parts = self._build(tokens)
                del parts[len(parts) - bool(last.body_rows % step) :]
                self._commit_rows(whole, blocks, full * step, parts, references)
                return True
        line = last.start_line if last.kind == "fence" and open_formula is None else above.end_line if above else 0
        end = offset_of_line(whole, line)
        if end <= len(self._head):
            return False
        self._commit_part(whole, end, tokens[: above.end_token if above else 0], references)
        return True

    def _commit_part(self, whole: str, end: int, tokens: Sequence[Token], references: dict[str, Any]) -> None:
        """Keep ``tokens``, which stand before ``end`` in ``whole``."""
        if len(references) > len(self._references) and self._learn(self._parse(whole[:end])[1]):
            return
        parts, start = self._build(tokens), self._pos - len(self._head)
        self._head = ""
        self._commit(parts, start + end)

    def _commit_rows(
        self, whole: str, blocks: Sequence[Block], rows: int, parts: Sequence[Part], references: dict[str, Any]
    ) -> None:
        """Keep ``rows`` rows of the table that is the last block, and what stands above it: ``parts``."""
        if self._learn(references):
            return
        table, start = blocks[-1], self._pos - len(self._head)
        end = offset_of_line(whole, table.start_line + 2 + rows)
        if self._head and len(blocks) == 1:
            self._row += rows
        else:
            self._head, self._row = lines_of(whole, table.start_line, 2), max(1, rows)
        self._commit(parts, start + end)

    def _learn(self, references: dict[str, Any]) -> bool:
        """Take link definitions over. True: blocks above may use them, so all is read again."""
        if len(references) <= len(self._references):
            return False
        self._references = dict(references)
        if not self._stable:
            return False
        self._restart()
        self.done = False
        return True

    def _cut(self, end: int) -> bool:
        """The block at the present place is too long: end it at or before ``end``, a line end."""
        whole = self._head + self._text[self._pos : end]
        tokens, references = self._parse(whole)
        blocks = top_level(tokens)
        if blocks and blocks[-1].kind == "table":
            self._commit_rows(whole, blocks, blocks[-1].body_rows, self._build(tokens), references)
            return False
        source = self._text[self._pos : end]
        source = source[: place_to_cut(source)]
        self._commit(self._build(self._parse(source)[0]), self._pos + len(source))
        self._went_on = True
        return False

    def _cut_line(self) -> bool:
        """The line at the present place is too long: a table takes it whole up to a limit, others are cut in it."""
        start = self._pos
        if self._head:
            newline = self._text.find("\n", start, start + self._limits.row)
            if newline < 0 and len(self._text) - start <= self._limits.row:
                return self._commit_rest() if self._final else self._show([])
            whole = self._head + self._text[start : newline + 1]
            tokens, references = self._parse(whole)
            blocks = top_level(tokens)
            if newline >= 0 and blocks and blocks[0].body_rows == 1:
                self._commit_rows(whole, blocks, 1, self._build(tokens), references)
                return False
            self._head = ""
        end = start + self._limits.block
        parts = self._build(self._parse(self._text[start:end])[0])
        self._commit(parts, end)
        self._joined = self._went_on = True
        return False


def _columns(tokens: Sequence[Token]) -> int:
    return sum(token.type == "th_open" for token in tokens)
