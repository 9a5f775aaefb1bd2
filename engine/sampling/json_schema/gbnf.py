"""Pieces of GBNF, the notation for grammars in llama.cpp (grammars/README.md there), and a book of named rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from engine.sampling.json_schema.problem import bad_schema

MAX_RULES = 5000
MOST_REPEATS = 1000
"""llama.cpp refuses repetitions of more than 2,000 rules."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}

SPACE = "ws"
BASICS = {
    "ws": r'( " " | "\n" [ \t]{0,20} )?',
    "char": r'[^"\\\x7F\x00-\x1F] | "\\" ( ["\\bfnrt] | "u" [0-9a-fA-F]{4} )',
    "string": r'"\"" char* "\""',
    "integer": '"-"? ( "0" | [1-9] [0-9]{0,15} )',
    "number": 'integer ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,2} )?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "member": 'string ":" ws value',
    "object": '"{" ws ( member ( "," ws member )* ws )? "}"',
    "array": '"[" ws ( value ( "," ws value )* ws )? "]"',
    "value": "object | array | string | number | boolean | null",
}
"""JSON itself (RFC 8259), with bounded numbers and bounded white space, so that no answer can go on with spaces."""

_USES = {
    "string": ("char",),
    "number": ("integer",),
    "member": ("string", "ws", "value"),
    "object": ("ws", "member"),
    "array": ("ws", "value"),
    "value": ("object", "array", "string", "number", "boolean", "null"),
}


def literal(text: str) -> str:
    """Exactly this text."""
    return '"' + "".join(_ESCAPES.get(char) or _plain(char) for char in text) + '"'


def _plain(char: str) -> str:
    return f"\\x{ord(char):02X}" if ord(char) < 0x20 or ord(char) == 0x7F else char


def json_literal(value: Any) -> str:
    """Exactly this value, as JSON without white space."""
    return literal(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def either(choices: Iterable[str]) -> str:
    """One of several."""
    unique = list(dict.fromkeys(choices))
    return unique[0] if len(unique) == 1 else f"( {' | '.join(unique)} )"


def repeated(expression: str, least: int, most: int | None) -> str:
    """``expression``, which is one item or in brackets, so many times; None for no limit."""
    if most is None:
        return {0: f"{expression}*", 1: f"{expression}+"}.get(least, f"{expression}{{{least},}}")
    return {(0, 1): f"{expression}?", (1, 1): expression}.get((least, most), f"{expression}{{{least},{most}}}")


def bounded(least: int, most: int | None, what: str) -> tuple[int, int | None]:
    """Bounds of a repetition that llama.cpp takes; a narrower choice is a valid one.

    Raises:
        VrambleError: ``bad-json-schema``: nothing lies between them, or too many are asked for.
    """
    if most is not None and most < least:
        raise bad_schema(f"{what} has a minimum above its maximum")
    if least > MOST_REPEATS:
        raise bad_schema(f"{what} has a minimum above {MOST_REPEATS}")
    return least, None if most is None else min(most, MOST_REPEATS)


class RuleBook:
    """Named rules. Those of `BASICS` are added when they are used."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._named: dict[str, str] = {}
        """Expression -> the first name it was given."""

        self._count = 0

    def basic(self, name: str) -> str:
        """The name of a rule of `BASICS`."""
        if name not in self._rules:
            self._rules[name] = BASICS[name]
            for other in _USES.get(name, ()):
                self.basic(other)
        return name

    def name(self) -> str:
        """A new name, for a rule that will be added."""
        self._count += 1
        if self._count > MAX_RULES:
            raise bad_schema("it is too large")
        return f"r{self._count}"

    def add(self, expression: str, name: str | None = None) -> str:
        """Keep an expression as a rule. Gives its name; without one, that of an equal rule if there is one."""
        if name is None and expression in self._named:
            return self._named[expression]
        name = name or self.name()
        self._rules[name] = expression
        return self._named.setdefault(expression, name)

    def shared(self, name: str, make: Callable[[], str]) -> str:
        """A rule that is made once."""
        if name not in self._rules:
            self._rules[name] = make()
        return name

    def text(self, root: str) -> str:
        """The whole grammar."""
        self.basic(SPACE)
        rules = {"root": root, **self._rules}
        return "\n".join(f"{name} ::= {expression}" for name, expression in rules.items()) + "\n"
