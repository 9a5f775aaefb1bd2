"""Whether a grammar (GBNF) can be meant, without the engine: the rules of llama.cpp's ``grammars/README.md``.

What is right here can still be refused by llama.cpp; what is wrong here always is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from engine.errors import VrambleError
from engine.sampling.check import MAX_GRAMMAR

ROOT: Final = "root"
DEEPEST: Final = 200
"""Brackets inside brackets."""
_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_LITERAL: Final = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
_CLASS: Final = re.compile(r"\[((?:\\.|[^\]\\])*)\]", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)([0-9A-Fa-f]*)", re.DOTALL)
_TIMES: Final = re.compile(r"[*+?]|\{[ \t]*(\d+)[ \t]*(?:(,)[ \t]*(\d*)[ \t]*)?\}")
_TOKEN: Final = re.compile(r"!?<[^>\n]+>")
_BLANK: Final = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_DIGITS: Final = {"x": 2, "u": 4, "U": 8}


@dataclass
class _Item:
    """A step of a rule: a character (no ``rule``), another rule, or brackets."""

    rule: str = ""
    line: int = 0
    group: list[list[_Item]] = field(default_factory=list)
    empty: bool = False
    """It may stand for nothing by itself."""


def check_grammar(text: str) -> None:
    """Refuse a grammar that llama.cpp would refuse.

    Raises:
        VrambleError: ``bad-grammar`` with the line where that is known.
    """
    if len(text) > MAX_GRAMMAR:
        raise _bad(f"it is longer than {MAX_GRAMMAR} characters")
    rules = _Reader(text).rules()
    if ROOT not in rules:
        raise _bad(f"it has no rule named {ROOT}")
    for item in _all(rules.values()):
        if item.rule and item.rule not in rules:
            raise _bad(f"line {item.line} uses the rule {item.rule}, which is not there")
    if (name := _turning(rules)) is not None:
        raise _bad(f"the rule {name} begins with itself")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def rules(self) -> dict[str, list[list[_Item]]]:
        """All rules, the alternatives of each."""
        found: dict[str, list[list[_Item]]] = {}
        self._skip(lines=True)
        while self._at < len(self._text):
            name = self._take(_NAME)
            if name is None:
                raise self._wrong("a rule has to begin with its name")
            self._skip()
            if not self._text.startswith("::=", self._at):
                raise self._wrong(f"::= is missing after {name[0]}")
            self._at += 3
            self._skip(lines=True)
            found[name[0]] = self._alternatives(inside=False)
            if self._at < len(self._text) and self._text[self._at] not in "\r\n":
                raise self._wrong(f"{self._text[self._at]} is not expected here")
            self._skip(lines=True)
        return found

    def _alternatives(self, *, inside: bool) -> list[list[_Item]]:
        found = [self._sequence(inside=inside)]
        while self._text.startswith("|", self._at):
            self._at += 1
            self._skip(lines=True)
            found.append(self._sequence(inside=inside))
        return found

    def _sequence(self, *, inside: bool) -> list[_Item]:
        items: list[_Item] = []
        while (item := self._item()) is not None:
            self._skip(lines=inside)
            while (times := self._take(_TIMES)) is not None:
                self._check_times(times)
                item = _Item(group=[[item]], empty=item.empty or times[0] in "*?" or times[1] == "0")
                self._skip(lines=inside)
            items.append(item)
        if self._text[self._at : self._at + 1] in ("*", "+", "?", "{"):
            raise self._wrong(f"{self._text[self._at]} has nothing before it" if not items else "{ is not a repetition")
        return items

    def _item(self) -> _Item | None:
        start = self._text[self._at : self._at + 1]
        if start in ('"', "["):
            written = self._take(_LITERAL if start == '"' else _CLASS)
            if written is None:
                raise self._wrong(f"{start} is not closed")
            self._check_escapes(written[1])
            return _Item(empty=start == '"' and not written[1])
        if start == "(":
            return self._group()
        if start == "." or self._take(_TOKEN):
            self._at += start == "."
            return _Item()
        line, name = self._line(), self._take(_NAME)
        return None if name is None else _Item(rule=name[0], line=line)

    def _group(self) -> _Item:
        self._at, self._depth = self._at + 1, self._depth + 1
        if self._depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} brackets are open at once")
        self._skip(lines=True)
        group = self._alternatives(inside=True)
        if not self._text.startswith(")", self._at):
            raise self._wrong("a bracket is not closed")
        self._at, self._depth = self._at + 1, self._depth - 1
        return _Item(group=group)

    def _check_times(self, times: re.Match[str]) -> None:
        if times[1] and times[3] and int(times[3]) < int(times[1]):
            raise self._wrong(f"{times[0]} ends before it begins")

    def _check_escapes(self, text: str) -> None:
        for sign, digits in _ESCAPE.findall(text):
            if sign not in 'tnr\\"[]xuU' or len(digits) < _DIGITS.get(sign, 0):
                raise self._wrong(f"\\{sign} is no character that can be written so")

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _skip(self, *, lines: bool = False) -> None:
        self._take(_BLANK_LINES if lines else _BLANK)

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _wrong(self, what: str) -> VrambleError:
        return _bad(f"line {self._line()}: {what}")


def _all(rules: Iterable[list[list[_Item]]]) -> Iterator[_Item]:
    """All items, those in brackets too."""
    for alternatives in rules:
        for items in alternatives:
            for item in items:
                yield item
                yield from _all([item.group])


def _turning(rules: dict[str, list[list[_Item]]]) -> str | None:
    """A rule that begins with itself, by itself or through others."""
    empty = _empty_rules(rules)
    first = {name: _first(alternatives, empty) for name, alternatives in rules.items()}
    for name in rules:
        seen: set[str] = set()
        waiting = list(first[name])
        while waiting:
            other = waiting.pop()
            if other == name:
                return name
            if other not in seen:
                seen.add(other)
                waiting.extend(first[other])
    return None


def _empty_rules(rules: dict[str, list[list[_Item]]]) -> set[str]:
    """Those that may stand for nothing."""
    empty: set[str] = set()
    while True:
        more = {name for name, rule in rules.items() if name not in empty and _may_be_empty(rule, empty)}
        if not more:
            return empty
        empty |= more


def _may_be_empty(alternatives: list[list[_Item]], empty: set[str]) -> bool:
    return any(all(_is_empty(item, empty) for item in items) for items in alternatives)


def _is_empty(item: _Item, empty: set[str]) -> bool:
    return item.empty or item.rule in empty or (bool(item.group) and _may_be_empty(item.group, empty))


def _first(alternatives: list[list[_Item]], empty: set[str]) -> set[str]:
    """The rules with which these may begin."""
    found: set[str] = set()
    for items in alternatives:
        for item in items:
            found |= {item.rule} if item.rule else _first(item.group, empty)
            if not _is_empty(item, empty):
                break
    return found


def _bad(reason: str) -> VrambleError:
    return VrambleError("bad-grammar", f"The grammar is not valid: {reason}.", "Correct the grammar.")
