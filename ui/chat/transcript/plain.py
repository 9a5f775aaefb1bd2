"""What a user typed: fenced code is code and addresses are links, all else is shown as it stands."""

from __future__ import annotations

import re
from dataclasses import replace

from ui.chat.transcript.blocks import BLOCK_GAP, Paragraph, Part
from ui.chat.transcript.budget import Tired
from ui.chat.transcript.cutting import pieces
from ui.chat.transcript.fences import read_fence
from ui.chat.transcript.inline import with_links

_FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


class PlainStream:
    """The parts of a user's text. Same use as `parse.MarkdownStream`; all is read at once."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.done = True
        self.share = 1.0
        self.stable = 0
        self._text = ""

    def set_text(self, text: str, *, final: bool) -> None:
        """Take the whole text as it is now."""
        if text == self._text:
            return
        self._text = text
        self.parts = plain_parts(text)
        self.stable = len(self.parts)

    def advance(self, tired: Tired) -> None:
        """Nothing is left to do."""


def plain_parts(text: str) -> list[Part]:
    """``text`` as paragraphs that keep every character, and code blocks."""
    parts: list[Part] = []
    position = searched = 0
    while opening := _FENCE_LINE.search(text, searched):
        fence = read_fence(text, opening.start(), final=True)
        if fence is None or fence.end is None:
            searched = opening.end()
            continue
        parts += _paragraphs(text[position : opening.start()], first=not parts)
        parts.append(replace(fence.block, gap=BLOCK_GAP if parts else 0.0))
        position = searched = fence.end
    return parts + _paragraphs(text[position:], first=not parts)


def _paragraphs(text: str, *, first: bool) -> list[Part]:
    content = text.strip("\n")
    if not content.strip():
        return []
    return [
        Paragraph(content=piece, joined=number > 0, gap=0.0 if number or first else BLOCK_GAP)
        for number, piece in enumerate(pieces(with_links(content)))
    ]
