"""The lines that show why a message was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engine.chat.search_text import Chunk

BEFORE: Final = 36
LENGTH: Final = 150
LOOKED_AT: Final = 200_000
"""Characters of a message in which the place is looked for."""

_BETWEEN: Final = r"[\W_]{0,6}"
_MARKS: Final = "[\u0300-\u036f]*"
_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(r"\*{1,3}|`{1,3}|(?<!\S)#{1,6} ")
_WORD = re.compile(r"\w+")

Marks = tuple[tuple[int, int], ...]
"""Where something is highlighted: start and length in characters."""


def patterns_of(chunks: Sequence[Chunk]) -> list[re.Pattern[str]]:
    """What finds the pieces of a query, for `snippet`."""
    return [_pattern(chunk) for chunk in chunks]


def snippet(text: str, patterns: Sequence[re.Pattern[str]]) -> tuple[str, Marks]:
    """One line of ``text`` around the first place that fits a piece of the query, and all such places in it.

    The line may have no marks: when the index knows a form of a word that is not looked for here.
    """
    text = text[:LOOKED_AT]
    plain = _plain(text)
    found = [match for pattern in patterns if (match := pattern.search(plain))]
    first = min((match.start() for match in found), default=0)
    start = _begin(text, first)
    line = _unmarked(_SPACE.sub(" ", text[start : start + 2 * LENGTH]).strip(), patterns)
    cut = line[:LENGTH].rstrip()
    whole = ("… " if start else "") + cut + (" …" if len(line) > len(cut) or start + 2 * LENGTH < len(text) else "")
    return whole, _marks(whole, patterns)


def _unmarked(line: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """``line`` without marks of Markdown, unless they are what was looked for."""
    bare = _MARKUP.sub("", line)
    before, after = _plain(line), _plain(bare)
    return bare if all(pattern.search(after) for pattern in patterns if pattern.search(before)) else line


def _begin(text: str, first: int) -> int:
    """A place shortly before ``first``, not inside of a word."""
    if first <= BEFORE:
        return 0
    start = text.rfind(" ", first - BEFORE, first)
    return first - BEFORE if start < 0 else start + 1


def _marks(line: str, patterns: Sequence[re.Pattern[str]]) -> Marks:
    plain = _plain(line)
    spans = sorted(match.span() for pattern in patterns for match in pattern.finditer(plain))
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return tuple((start, end - start) for start, end in joined)


def _pattern(chunk: Chunk) -> re.Pattern[str]:
    """Finds the words of ``chunk`` side by side in a plain text; whole words where it is indexed."""
    if not chunk.indexed:
        return re.compile(re.escape(chunk.text))
    words = _WORD.findall(_plain(chunk.text)) or [_plain(chunk.text)]
    inner = _BETWEEN.join(_MARKS.join(re.escape(letter) for letter in word) for word in words)
    return re.compile(inner, re.IGNORECASE)


def _plain(text: str) -> str:
    """``text`` without diacritics, as long as before."""
    return text if text.isascii() else "".join(map(_base, text))


@lru_cache(maxsize=8192)
def _base(char: str) -> str:
    return char if char.isascii() else unicodedata.normalize("NFD", char)[0]
