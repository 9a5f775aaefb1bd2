"""Between the program's strings, counted in characters, and Qt's, counted in UTF-16 units."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from itertools import pairwise

LINE_SEPARATOR = "\u2028"
LEFT_TO_RIGHT_MARK = "\u200e"
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffc\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff]")
_RIGHT_TO_LEFT_WORDS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]+(?: [\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]+)*"
)
_UNCOPIABLE = re.compile("[\ud800-\udfff]")


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return "\ufffd" if code == 0 else chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def displayable(text: str) -> str:
    """``text`` with one visible character for each that Qt would drop or treat as a command."""
    return _UNSHOWABLE.sub(_symbol, text) if _UNSHOWABLE.search(text) else text


def copiable(text: str) -> str:
    """``text`` as the clipboard takes it: line ends are ``\\n``, nothing is half a character."""
    text = text.replace("\u2029", "\n").replace("\u2028", "\n")
    return _UNCOPIABLE.sub("\ufffd", text) if _UNCOPIABLE.search(text) else text


def mixes_directions(text: str) -> bool:
    """Whether a run of characters may stand in more than one place of a line."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Direction of a paragraph after its first letter that has one."""
    for letter in text[:400]:
        kind = unicodedata.bidirectional(letter)
        if kind in ("R", "AL"):
            return True
        if kind == "L":
            return False
    return False


def runs_to_isolate(text: str) -> list[int]:
    """Where each run of right-to-left words ends behind which a mark keeps what follows from moving into it."""
    return [run.end() for run in _RIGHT_TO_LEFT_WORDS.finditer(text)]


class MarkedUnits:
    """As `Units`, for a text that is shown with a left-to-right mark at each place in ``marks``."""

    def __init__(self, text: str, marks: list[int]) -> None:
        self._units, self._marks = Units(text), marks
        self._qt_marks = [self._units.to_qt(mark) + number for number, mark in enumerate(marks)]

    def to_qt(self, position: int) -> int:
        """UTF-16 units before character number ``position``."""
        return self._units.to_qt(position) + bisect_left(self._marks, position)

    def from_qt(self, units: int) -> int:
        """Characters before UTF-16 unit number ``units``."""
        return self._units.from_qt(units - bisect_left(self._qt_marks, units))


def with_marks(text: str, marks: list[int]) -> str:
    """``text`` with a left-to-right mark at each place."""
    places = [0, *marks, len(text)]
    return LEFT_TO_RIGHT_MARK.join(text[start:end] for start, end in pairwise(places))


class Units:
    """Positions of one text, converted both ways."""

    __slots__ = ("_after", "_astral")

    def __init__(self, text: str) -> None:
        astral = [match.start() for match in _ASTRAL.finditer(text)] if not text.isascii() else []
        self._astral = astral
        self._after = [position + number for number, position in enumerate(astral)]

    def to_qt(self, position: int) -> int:
        """UTF-16 units before character number ``position``."""
        return position + bisect_left(self._astral, position) if self._astral else position

    def from_qt(self, units: int) -> int:
        """Characters before UTF-16 unit number ``units``."""
        return units - bisect_left(self._after, units) if self._after else units
