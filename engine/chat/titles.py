"""Titles: one plain line made from what the user wrote."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from engine.chat.graphemes import ZWJ, clusters, cut
from engine.chat.text import clean

MAX_GRAPHEMES: Final = 60
_LOOKED_AT: Final = 4000
"""Characters of a message that can reach its title: 60 clusters with marks are far below this."""
_DIRECTION = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Marks, embeddings and overrides that would turn the neighbours of a title around."""
_SPACE = re.compile(r"\s+")
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols by category that are drawn as nothing."""

_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:```|~~~)[^\n`]*$|#{1,6}[ \t]+|(?:>[ \t]?)+)", re.MULTILINE)
"""Fences with their language, headings, quotations: marks only at the start of a line."""
_PAIRS = (
    re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]+)(?<=\S)\1(?![\w*])"),
    re.compile(r"(?<![\w~])(~~)(?=[^\s~])([^~\n]+)(?<=\S)\1(?![\w~])"),
    re.compile(r"(?<!`)(`+)(?!`)([^`\n]+)(?<!`)\1(?!`)"),
)
"""Marks around words: emphasis, deleted, code. Not underscores, which names such as __init__ have."""


def title_of(message: str) -> str:
    """The title that a message gives its conversation: `make_title` without the marks of Markdown."""
    plain = _LINE_MARKS.sub("", message[:_LOOKED_AT])
    for pair in _PAIRS:
        plain = pair.sub(r"\2", plain)
    return make_title(plain + message[_LOOKED_AT:]) or make_title(message)


def make_title(text: str) -> str:
    """One line of at most `MAX_GRAPHEMES` grapheme clusters, or an empty string when nothing visible is left.

    White space of any kind becomes one space, direction controls are taken out, markup stays text.
    """
    line = _SPACE.sub(" ", _DIRECTION.sub("", clean(text[:_LOOKED_AT]))).strip()
    whole = list(clusters(line))
    while whole and not _visible(whole[0]):
        whole.pop(0)
    if not any(_visible(cluster) for cluster in whole):
        return ""
    if len(whole) <= MAX_GRAPHEMES and len(text) <= _LOOKED_AT:
        return "".join(whole)
    return cut("".join(whole), MAX_GRAPHEMES - 1).rstrip().rstrip(ZWJ) + "…"


def _visible(cluster: str) -> bool:
    """Unassigned code points count: a character may be newer than this Python."""
    return any(char not in _BLANK_LETTERS and _is_drawn(unicodedata.category(char)) for char in cluster)


def _is_drawn(category: str) -> bool:
    return category[0] in "LNPS" or category in ("Co", "Cn")
