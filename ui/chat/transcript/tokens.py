"""Block tokens of markdown-it to parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ui.chat.transcript.blocks import (
    BLOCK_GAP,
    HEADING_GAPS,
    LOOSE_GAP,
    PARAGRAPH_GAP,
    TIGHT_GAP,
    Code,
    Formula,
    Paragraph,
    Part,
    Rule,
    Styled,
    Table,
)
from ui.chat.transcript.cutting import language_of, pieces, table_parts, tail
from ui.chat.transcript.fences import add_tool_calls
from ui.chat.transcript.footnotes import add_footnotes
from ui.chat.transcript.inline import styled
from ui.chat.transcript.math_rules import add_math
from ui.chat.transcript.nesting import Nesting

_TASK = re.compile(r"\[([ xX])\](?:\s|$)")


def make_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML is text; every address is kept for the view to judge."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = _any_address  # type: ignore[method-assign]
    add_math(parser)
    add_footnotes(parser)
    add_tool_calls(parser)
    return parser


def _any_address(url: str) -> bool:
    """Every address is a link to the parser; `actions.may_open` judges it when it is used."""
    del url
    return True


@dataclass(slots=True)
class Builder:
    """Walks the tokens of one window and collects parts.

    ``first``: nothing stands above in this message. ``first_row`` is not 0 when the window begins with a table that
    goes on.
    """

    first: bool = True
    first_row: int = 0
    parts: list[Part] = field(default_factory=list)
    _nesting: Nesting = field(default_factory=Nesting)
    _tight: bool = False
    _outer_list: int = 0
    """How many parts stood before the outermost list that is open."""

    def build(self, tokens: Sequence[Token]) -> list[Part]:
        """Parts of ``tokens``, which hold whole top-level blocks."""
        position = 0
        while position < len(tokens):
            position = self._take(tokens, position)
        return self.parts

    def _take(self, tokens: Sequence[Token], at: int) -> int:
        """Handle the token at ``at``; returns the index of the next one."""
        token = tokens[at]
        if token.type == "heading_open":
            self._add_text(styled(tokens[at + 1].children or []), int(token.tag[1]))
            return at + 3
        if token.type == "table_open":
            return self._add_table(tokens, at)
        self._take_frame(token)
        self._take_leaf(token)
        return at + 1

    def _take_frame(self, token: Token) -> None:
        """What other blocks stand in."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._open_list(token)
            case "bullet_list_close" | "ordered_list_close":
                self._nesting.close_list()
            case "list_item_open":
                self._nesting.open_item(token.markup)
            case "list_item_close":
                self._close_item()
            case "footnote_reference_open":
                self._mark_outer_list()
                self._nesting.open_note(str(token.meta["label"]))
            case "footnote_reference_close":
                self._close_item()
                self._nesting.close_list()
            case "blockquote_open":
                self._nesting.open_quote()
            case "blockquote_close":
                self._nesting.close()

    def _take_leaf(self, token: Token) -> None:
        """What is shown itself."""
        match token.type:
            case "paragraph_open":
                self._tight = token.hidden
            case "inline":
                self._add_text(styled(token.children or []), 0)
            case "fence" | "code_block":
                self._add_code(token)
            case "hr":
                self._add(Rule(gap=BLOCK_GAP))
            case "math_block" | "amsmath":
                self._add_formula(token)

    def _open_list(self, token: Token) -> None:
        self._mark_outer_list()
        start = token.attrGet("start")
        self._nesting.open_list(ordered=token.type.startswith("ordered"), start=1 if start is None else int(start))

    def _mark_outer_list(self) -> None:
        if not self._nesting.in_list:
            self._outer_list = len(self.parts)

    def _close_item(self) -> None:
        if self._nesting.item_is_empty:
            self._add_text(Styled(""), 0)
        self._nesting.close_item()

    def _add_text(self, content: Styled, level: int) -> None:
        task = _TASK.match(content.text) if self._nesting.in_list and self._nesting.item_is_empty else None
        gap = HEADING_GAPS[level] if level else PARAGRAPH_GAP
        if self._nesting.in_list and not level:
            gap = LOOSE_GAP if self._nesting.opens_list or not self._tight else TIGHT_GAP
        for number, piece in enumerate(pieces(tail(content, task.end()) if task else content)):
            part = Paragraph(content=piece, level=level, joined=number > 0, gap=0.0 if number else gap)
            self._add(part, "" if number or not task else "[ ]" if task.group(1) == " " else "[x]")

    def _add_code(self, token: Token) -> None:
        code = token.content.removesuffix("\n")
        self._add(Code(code=code, language=language_of(token.info), gap=BLOCK_GAP))

    def _add_formula(self, token: Token) -> None:
        latex = token.content.strip()
        opener, closer = {"$$": ("$$", "$$"), "\\[": ("\\[", "\\]")}.get(token.markup, ("", ""))
        source = f"{opener}\n{latex}\n{closer}" if opener else latex
        self._add(Formula(latex=latex, source=source, gap=PARAGRAPH_GAP))

    def _add(self, part: Part, task: str = "") -> None:
        """Put ``part`` where the walk is; ``task``: a box that stands in place of the innermost marker."""
        gap = 0.0 if self.first and not self.parts else part.gap
        if self._nesting.in_list and len(self.parts) > self._outer_list and isinstance(self.parts[-1], Code | Table):
            gap = max(gap, LOOSE_GAP)
        frames, fresh, markers = self._nesting.place()
        *outer, marker = (*markers[:-1], task or markers[-1]) if markers else ("",)
        placed = replace(part, frames=frames, fresh=fresh, marker=marker, outer_markers=tuple(outer), gap=gap)
        self.parts.append(placed)

    def _add_table(self, tokens: Sequence[Token], at: int) -> int:
        rows: list[tuple[Styled, ...]] = []
        aligns: list[str] = []
        row: list[Styled] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                row = []
            elif token.type == "inline":
                row.append(styled(token.children or []))
            elif token.type == "th_open":
                aligns.append(_align(token))
            elif token.type == "tr_close":
                rows.append(tuple(row))
            at += 1
        first_row, self.first_row = self.first_row, 0
        for part in table_parts(rows[0], rows[1:], "".join(aligns), first_row):
            self._add(part)
        return at + 1


def _align(token: Token) -> str:
    style = str(token.attrGet("style") or "")
    return "c" if "center" in style else "r" if "right" in style else "l"


def references_of(environment: dict[str, Any]) -> dict[str, Any]:
    """Link definitions that a parse collected."""
    found: dict[str, Any] = environment.get("references", {})
    return found
