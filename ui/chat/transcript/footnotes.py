"""Footnotes where they stand: the mark raised in the text, the note as an item with its label."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote.index import footnote_def

MARK = "footnote_mark"
_MARK = re.compile(r"\[\^(\d{1,3})\]")
"""Only numbers: words in such brackets are more often a character class than a footnote."""
_INTERRUPTS = {"alt": ["paragraph", "reference"]}


def add_footnotes(parser: MarkdownIt) -> None:
    """Teach ``parser`` the inline token `MARK` and the block ``footnote_reference``, whose label is in ``meta``."""
    parser.block.ruler.before("reference", "footnote_def", _note, _INTERRUPTS)  # type: ignore[arg-type]
    parser.inline.ruler.before("link", MARK, _mark)


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    count = len(state.tokens)
    if not footnote_def(state, start, end, silent):
        return False
    if not silent:
        state.tokens[count].map = [start, state.line]
    return True


def _mark(state: StateInline, silent: bool) -> bool:
    match = _MARK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push(MARK, "", 0).content = match.group(1)
    state.pos = match.end()
    return True
