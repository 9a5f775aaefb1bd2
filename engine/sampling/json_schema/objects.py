"""Objects: members in the order of the schema, optional ones or not, and keys that are not named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.sampling.json_schema.gbnf import RuleBook, bounded, either, json_literal, repeated
from engine.sampling.json_schema.patterns import Ranges, complement, one_of
from engine.sampling.json_schema.problem import bad_schema

ToRule = Callable[[Any], str]

_KEY_NOT: Ranges = [(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)]


@dataclass(frozen=True)
class Member:
    """One named member: its grammar and whether it has to be there."""

    rule: str
    required: bool


def object_rule(schema: dict[str, Any], book: RuleBook, rule_of: ToRule) -> str:
    """The grammar of an object schema."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    others = schema.get("additionalProperties", not properties)
    unnamed = [name for name in required if name not in properties]
    if unnamed and others is False and properties:
        raise bad_schema(f"the required property {unnamed[0]!r} is not allowed")
    allowed = [name for name in properties if properties[name] is not False]
    if any(name in required for name in set(properties) - set(allowed)):
        raise bad_schema("a required property is not allowed")
    named = {name: properties[name] for name in allowed}
    named |= {name: others if isinstance(others, dict) else True for name in unnamed}
    members = [Member(_member(book, name, rule_of(sub)), name in required) for name, sub in named.items()]
    extra = None if others is False else f'{_key(book, properties)} ":" ws {rule_of(others)}'
    return _braces(_members(schema, book, members, extra))


def _braces(inside: str) -> str:
    return f'"{{" ws {inside} "}}"' if inside else '"{" ws "}"'


def _member(book: RuleBook, name: str, value: str) -> str:
    return book.add(f'{json_literal(name)} ":" ws {value}')


def _members(schema: dict[str, Any], book: RuleBook, members: Sequence[Member], extra: str | None) -> str:
    if not members and extra is None:
        return ""
    if not members:
        least, most = bounded(schema.get("minProperties", 0), schema.get("maxProperties"), "the number of properties")
        return separated(book.add(extra or ""), least, most)
    first, later = "", ""
    if extra is not None:
        rule = book.add(extra)
        first, later = f"( {rule} {_more(rule)}* ws )?", f"{_more(rule)}* ws"
    return _chain(book, members, first, later)


def _more(rule: str) -> str:
    return f'( "," ws {rule} )'


def _chain(book: RuleBook, members: Sequence[Member], first: str, later: str) -> str:
    """From the last member to the first: what can follow when nothing was written yet, and when something was."""
    later = later or "ws"
    for member in reversed(members):
        rest = book.add(later)
        here = f"{member.rule} {rest}"
        if member.required:
            first = here
            later = f'"," ws {here}'
        else:
            before = book.add(first or '""')
            first = either([here, before])
            later = f"{_more(member.rule)}? {rest}"
    return first


def separated(rule: str, least: int, most: int | None) -> str:
    """So many items with commas between them, and the white space behind the last one."""
    if most == 0:
        return ""
    rest = repeated(_more(rule), max(0, least - 1), None if most is None else most - 1) if most != 1 else ""
    inside = f"{rule} {rest} ws".replace("  ", " ")
    return inside if least else f"( {inside} )?"


def _key(book: RuleBook, named: Iterable[str]) -> str:
    """Any key in quotes but those that are named."""
    taken = sorted(name for name in named if all(_is_plain(char) for char in name))
    if not taken:
        return book.basic("string")
    plain = book.shared("keychar", lambda: one_of_plain([]))
    return book.add(f'"\\"" {_unlike(book, taken, plain)} "\\""')


def _unlike(book: RuleBook, names: Sequence[str], plain: str) -> str:
    """The inside of a string that is none of ``names``: off their tree at some letter, or ending where no name ends."""
    branches: dict[str, list[str]] = {}
    for name in names:
        if name:
            branches.setdefault(name[0], []).append(name[1:])
    choices = [f"{one_of_plain(branches)} {plain}*"]
    for char, rests in branches.items():
        choices.append(f"{one_of([(ord(char), ord(char))])} {_unlike(book, rests, plain)}")
    if "" not in names:
        choices.append('""')
    return book.add(either(choices))


def _is_plain(char: str) -> bool:
    return not any(low <= ord(char) <= high for low, high in _KEY_NOT)


def one_of_plain(excluded: Iterable[str]) -> str:
    """A character that needs no escape and is not excluded."""
    return one_of(complement([*_KEY_NOT, *((ord(char), ord(char)) for char in excluded)]))
