"""Text as the search index takes it, and what a user types as a query of it.

The index splits at spaces and punctuation and passes over case and diacritics. Scripts that are written without spaces
would be one long word there, and signs such as + would not exist: here each such character becomes a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

VERSION: Final = 1
"""Another number when `fold` gives other words: the index is then built anew."""

MOST_CHUNKS: Final = 16
LONGEST_QUERY: Final = 1000
SHORTEST_PREFIX: Final = 2
"""One letter begins too many words of a large history."""

_APART = re.compile(
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul: words carry endings
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
    "]"
)
_ASCII_SIGN = re.compile("[$+<=>|~]")
_OTHER_SIGN = re.compile(r"[^\w\s\x00-\x7f]")
_CHUNK = re.compile(r'"([^"]*)"|(\S+)')
_LETTER = re.compile(r"[^\W_]")


class Chunk(NamedTuple):
    """One piece of a query: words that stand side by side.

    Attributes:
        text: As it was typed.
        prefix: The last word may go on.
        indexed: It has words that the index knows; else only the text itself can be looked through.
    """

    text: str
    prefix: bool
    indexed: bool


def fold(text: str) -> str:
    """``text`` with characters that are words of their own set apart, and signs by their numbers."""
    text = _ASCII_SIGN.sub(_named, text)
    if text.isascii():
        return text
    return _OTHER_SIGN.sub(_sign, _APART.sub(_spaced, text))


def chunks_of(query: str) -> tuple[Chunk, ...]:
    """The pieces of what was typed: words, "quoted words side by side", beginnings (the last word, and any*)."""
    query = query[:LONGEST_QUERY].encode(errors="replace").decode()
    found = list(_CHUNK.finditer(query))[:MOST_CHUNKS]
    chunks = []
    for number, match in enumerate(found):
        quoted, plain = match.group(1), match.group(2)
        if quoted is not None:
            text, open_end = quoted.strip(), False
        else:
            text = plain.rstrip("*") or plain
            open_end = plain != text or number == len(found) - 1
        if text:
            chunks.append(_chunk(text, open_end))
    return tuple(chunks)


def match_of(chunks: tuple[Chunk, ...]) -> str:
    """The query for the index; empty when no piece has a word that it knows."""
    pieces = []
    for chunk in chunks:
        if chunk.indexed:
            words = fold(chunk.text).replace('"', " ").replace("\0", " ")
            pieces.append(f'"{words}"' + ("*" if chunk.prefix else ""))
    return " AND ".join(pieces)


def _chunk(text: str, open_end: bool) -> Chunk:
    folded = fold(text)
    words = re.findall(r"[^\W_]+", folded)
    last = words[-1] if words else ""
    ends_in_word = bool(words) and folded.rstrip().endswith(last)
    long_enough = len(last) >= SHORTEST_PREFIX and last != _name(text[-1])
    return Chunk(text, open_end and ends_in_word and long_enough, bool(_LETTER.search(folded)))


def _spaced(match: re.Match[str]) -> str:
    return f" {match.group()} "


def _name(sign: str) -> str:
    return f"x{ord(sign):x}x"


def _named(match: re.Match[str]) -> str:
    return f" {_name(match.group())} "


def _sign(match: re.Match[str]) -> str:
    """Symbols and characters newer than this table; punctuation and marks stay what they are."""
    kind = unicodedata.category(match.group())
    return f" {_name(match.group())} " if kind[0] == "S" or kind in ("Co", "Cn") else match.group()
