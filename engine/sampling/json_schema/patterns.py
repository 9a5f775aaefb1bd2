"""Regular expressions (the part of ECMA 262 that schemas use) as GBNF for the inside of a JSON string."""

from __future__ import annotations

from collections.abc import Iterable

from engine.sampling.json_schema.gbnf import MOST_REPEATS, either, literal, repeated
from engine.sampling.json_schema.problem import bad_schema

Ranges = list[tuple[int, int]]

LAST = 0x10FFFF
MAX_DEPTH = 50
DIGIT: Ranges = [(0x30, 0x39)]
WORD: Ranges = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
WHITE: Ranges = [(0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x2028, 0x2029), (0xFEFF, 0xFEFF)]
LINE_ENDS: Ranges = [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]
_CLASSES = {"d": DIGIT, "w": WORD, "s": WHITE}
_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0x00}
_JSON_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x08: "\\b", 0x0C: "\\f"}
_NOT_PLAIN: Ranges = [(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F), (0xD800, 0xDFFF)]


def pattern_to_gbnf(pattern: str, anything: str = "char") -> str:
    """What stands between the quotes of a JSON string that ``pattern`` finds something in.

    Args:
        anything: Rule for one character of a JSON string, used where the pattern is not anchored.

    Raises:
        VrambleError: ``bad-json-schema``: not a regular expression, or one that no grammar can say.
    """
    return _Reader(pattern, anything).whole()


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """All code points that are not in ``ranges``."""
    result, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            result.append((start, low - 1))
        start = max(start, high + 1)
    return [*result, (start, LAST)] if start <= LAST else result


def one_of(ranges: Ranges) -> str:
    """One character of a JSON string that stands for a code point in ``ranges``."""
    wanted = complement(complement(ranges))
    plain = complement([*complement(wanted), *_NOT_PLAIN])
    choices = [f"[{''.join(_span(low, high) for low, high in plain)}]"] if plain else []
    for code, text in _JSON_ESCAPES.items():
        if any(low <= code <= high for low, high in wanted):
            choices.append(literal(text))
    if not choices:
        raise bad_schema("a character class in a pattern is empty")
    return either(choices)


def _span(low: int, high: int) -> str:
    return _code(low) if low == high else f"{_code(low)}-{_code(high)}"


def _code(code: int) -> str:
    if chr(code).isascii() and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


class _Reader:
    def __init__(self, pattern: str, anything: str) -> None:
        self._pattern, self._at, self._depth = pattern, 0, 0
        self._anything = anything

    def whole(self) -> str:
        """Alternatives at the top may be anchored each for itself."""
        choices = [self._anchored()]
        while self._take("|"):
            choices.append(self._anchored())
        if self._at < len(self._pattern):
            raise self._problem("a bracket too many")
        return either(choices)

    def _anchored(self) -> str:
        start = "" if self._take("^") else f"{self._anything}* "
        inside = self._sequence()
        end = "" if self._take("$") else f" {self._anything}*"
        return f"{start}{inside}{end}"

    def _alternatives(self) -> str:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._problem("too many brackets")
        choices = [self._sequence()]
        while self._take("|"):
            choices.append(self._sequence())
        self._depth -= 1
        return either(choices)

    def _sequence(self) -> str:
        parts = []
        while (char := self._peek()) and char not in "|)":
            if char == "$" and self._pattern[self._at + 1 : self._at + 2] in ("", "|") and not self._depth:
                break
            if char in "^$":
                raise self._problem("an anchor inside")
            parts.append(self._quantified(self._atom()))
        return " ".join(parts) or '""'

    def _quantified(self, atom: str) -> str:
        bounds = self._quantifier()
        if bounds is None:
            return atom
        self._take("?")
        if self._peek() and self._peek() in "*+?{":
            raise self._problem("two quantifiers in a row")
        least, most = bounds
        if least > MOST_REPEATS or (most is not None and most < least):
            raise self._problem("a repetition that cannot be")
        if most == 0:
            return '""'
        return repeated(f"( {atom} )", least, None if most is None else min(most, MOST_REPEATS))

    def _quantifier(self) -> tuple[int, int | None] | None:
        for mark, bounds in {"*": (0, None), "+": (1, None), "?": (0, 1)}.items():
            if self._take(mark):
                return bounds
        if not self._take("{"):
            return None
        inside, brace, _ = self._pattern[self._at :].partition("}")
        least, comma, most = inside.partition(",")
        if not brace or not least.isascii() or not least.isdigit() or len(inside) > 20 or (most and not most.isdigit()):
            raise self._problem("a repetition that is not complete")
        self._at += len(inside) + 1
        return int(least), int(most) if most else None if comma else int(least)

    def _atom(self) -> str:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return one_of(self._char_class())
        if char == ".":
            return one_of(complement(LINE_ENDS))
        if char == "\\":
            return one_of(self._escape())
        if char in "*+?{":
            raise self._problem("nothing to repeat")
        return one_of([(ord(char), ord(char))])

    def _group(self) -> str:
        if self._take("?") and not self._take(":"):
            name, closed, _ = self._pattern[self._at :].partition(">")
            if not name.startswith("<") or name[1:2] in {"=", "!"} or not closed:
                raise self._problem("looking ahead or behind")
            self._at += len(name) + 1
        inside = self._alternatives()
        if not self._take(")"):
            raise self._problem("a bracket that is not closed")
        return f"( {inside} )"

    def _char_class(self) -> Ranges:
        negated, ranges = self._take("^"), Ranges()
        while not self._take("]"):
            low = self._class_part()
            if self._peek() != "-" or self._pattern[self._at + 1 : self._at + 2] in {"]", ""} or len(low) > 1:
                ranges += low
                continue
            self._at += 1
            high = self._class_part()
            if low[0][0] > high[0][1] or len(high) > 1:
                raise self._problem("a range the wrong way round")
            ranges.append((low[0][0], high[0][1]))
        return complement(ranges) if negated else ranges

    def _class_part(self) -> Ranges:
        char = self._next()
        return self._escape(in_class=True) if char == "\\" else [(ord(char), ord(char))]

    def _escape(self, *, in_class: bool = False) -> Ranges:
        char = self._next()
        if char.lower() in _CLASSES:
            ranges = _CLASSES[char.lower()]
            return ranges if char.islower() else complement(ranges)
        if char in _CONTROLS:
            return [(_CONTROLS[char], _CONTROLS[char])]
        if char == "b" and in_class:
            return [(8, 8)]
        if char in "ux":
            return self._hexadecimal(4 if char == "u" else 2)
        if char.isalnum():
            raise self._problem(f"\\{char}")
        return [(ord(char), ord(char))]

    def _hexadecimal(self, digits: int) -> Ranges:
        text = self._pattern[self._at : self._at + digits]
        try:
            code = int(text, 16) if len(text) == digits else -1
        except ValueError:
            code = -1
        if code < 0:
            raise self._problem("an escape that is not complete")
        self._at += digits
        return [(code, code)]

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise self._problem("its end comes too early")
        self._at += 1
        return char

    def _take(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _problem(self, what: str) -> Exception:
        return bad_schema(f"the pattern {self._pattern[:80]!r} has {what}")
