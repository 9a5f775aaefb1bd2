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
from ui.chat.transcript.footnotes import add_footnotes
from ui.chat.transcript.inline import styled
from ui.chat.transcript.math_rules import add_math

LONGEST_LABEL = 4
"""Characters of a footnote's label beside the note."""
_TASK = re.compile(r"\[([ xX])\](?:\s|$)")


def make_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML is text; every address is kept for the view to judge."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = _any_address  # type: ignore[method-assign]
    add_math(parser)
    add_footnotes(parser)
    return parser


def _any_address(url: str) -> bool:
    """Every address is a link to the parser; `actions.may_open` judges it when it is used."""
    del url
    return True


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    delimiter: str = ""
    items: int = 0
    label: str = ""
    """Of a footnote, which is a list of one item."""
    fresh_item: bool = False
    """The next part is the first one of its item and carries the marker."""


@dataclass(slots=True)
class Builder:
    """Walks the tokens of one window and collects parts.

    ``first``: nothing stands above in this message. ``first_row`` is not 0 when the window begins with a table that
    goes on.
    """

    first: bool = True
    first_row: int = 0
    parts: list[Part] = field(default_factory=list)
    _frames: list[str] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
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
                self._lists.pop()
            case "list_item_open":
                self._open_item(token)
            case "list_item_close":
                self._close_item()
            case "footnote_reference_open":
                self._open_note(str(token.meta["label"]))
            case "footnote_reference_close":
                self._close_item()
                self._lists.pop()
            case "blockquote_open":
                self._frames.append("q")
            case "blockquote_close":
                self._frames.pop()

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
        if not self._lists:
            self._outer_list = len(self.parts)
        start = token.attrGet("start")
        self._lists.append(_List(token.type.startswith("ordered"), 1 if start is None else int(start)))

    def _open_item(self, token: Token) -> None:
        if self._lists and self._lists[-1].fresh_item:
            self._add_text(Styled(""), 0)
        self._frames.append("l")
        self._lists[-1].fresh_item = True
        self._lists[-1].items += 1
        self._lists[-1].delimiter = token.markup

    def _open_note(self, label: str) -> None:
        if not self._lists:
            self._outer_list = len(self.parts)
        self._frames.append("l")
        self._lists.append(_List(True, 1, items=1, label=label, fresh_item=True))

    def _close_item(self) -> None:
        if self._lists[-1].fresh_item:
            self._add_text(Styled(""), 0)
        self._lists[-1].number += 1
        self._frames.pop()

    def _marker(self) -> str:
        if not self._lists or not self._lists[-1].fresh_item or not self._frames or self._frames[-1] != "l":
            return ""
        current = self._lists[-1]
        current.fresh_item = False
        if current.label:
            return f"{current.label[:LONGEST_LABEL]}."
        return f"{current.number}{current.delimiter}" if current.ordered else "•"

    def _add_text(self, content: Styled, level: int) -> None:
        marker = self._marker()
        if marker and (task := _TASK.match(content.text)):
            marker = "[ ]" if task.group(1) == " " else "[x]"
            content = tail(content, task.end())
        gap = HEADING_GAPS[level] if level else PARAGRAPH_GAP
        if self._lists and not level:
            gap = self._list_gap(marker)
        for number, piece in enumerate(pieces(content)):
            self._add(
                Paragraph(content=piece, level=level, joined=number > 0, gap=0.0 if number else gap),
                "" if number else marker,
            )

    def _list_gap(self, marker: str) -> float:
        """Items of a tight list stand close; a list as a whole keeps more room above."""
        opens = bool(marker) and len(self._lists) == 1 and self._lists[0].items == 1
        return LOOSE_GAP if opens or not self._tight else TIGHT_GAP

    def _add_code(self, token: Token) -> None:
        code = token.content.removesuffix("\n")
        self._add(Code(code=code, language=language_of(token.info), gap=BLOCK_GAP), self._marker())

    def _add_formula(self, token: Token) -> None:
        latex = token.content.strip()
        opener, closer = {"$$": ("$$", "$$"), "\\[": ("\\[", "\\]")}.get(token.markup, ("", ""))
        source = f"{opener}\n{latex}\n{closer}" if opener else latex
        self._add(Formula(latex=latex, source=source, gap=PARAGRAPH_GAP), self._marker())

    def _add(self, part: Part, marker: str = "") -> None:
        gap = 0.0 if self.first and not self.parts else part.gap
        if self._lists and len(self.parts) > self._outer_list and isinstance(self.parts[-1], Code | Table):
            gap = max(gap, LOOSE_GAP)
        self.parts.append(replace(part, frames="".join(self._frames), marker=marker, gap=gap))

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
        marker = self._marker()
        first_row, self.first_row = self.first_row, 0
        for part in table_parts(rows[0], rows[1:], "".join(aligns), first_row):
            self._add(part, marker if part.first_row == 0 else "")
        return at + 1


def _align(token: Token) -> str:
    style = str(token.attrGet("style") or "")
    return "c" if "center" in style else "r" if "right" in style else "l"


def references_of(environment: dict[str, Any]) -> dict[str, Any]:
    """Link definitions that a parse collected."""
    found: dict[str, Any] = environment.get("references", {})
    return found
