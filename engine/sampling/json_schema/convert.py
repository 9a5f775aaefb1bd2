"""The walk through a schema.

Every text of the grammar is JSON that fits the schema, with these exceptions, which no such grammar can keep: ``oneOf``
is taken as ``anyOf``; ``uniqueItems``, ``multipleOf``, unknown formats, and the length of a string that has a pattern
or a format are not kept. The grammar may be narrower than the schema: members come in the schema's order, numbers have
up to 16 digits, and properties that are not named come only where ``additionalProperties`` is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import Any

from engine.sampling.json_schema.formats import FORMATS
from engine.sampling.json_schema.gbnf import RuleBook, bounded, either, json_literal, repeated
from engine.sampling.json_schema.merge import NOTES, merged
from engine.sampling.json_schema.numbers import bounds_of, integers, numbers
from engine.sampling.json_schema.objects import object_rule, separated
from engine.sampling.json_schema.patterns import pattern_to_gbnf
from engine.sampling.json_schema.problem import bad_schema
from engine.sampling.json_schema.types import TYPES, check_keywords, has_type, implied, listed

MAX_DEPTH = 64

_IMPOSSIBLE = (
    *("not", "if", "then", "else", "patternProperties", "propertyNames", "contains", "unevaluatedProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "$dynamicRef"),
)


def grammar_of(text: str) -> str:
    """The grammar for a schema given as JSON text.

    Raises:
        VrambleError: ``bad-json-schema`` with the reason.
    """
    try:
        schema = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise bad_schema(f"it is not JSON ({error})") from error
    if not isinstance(schema, dict | bool):
        raise bad_schema("it is neither an object nor true")
    converter = _Converter(schema)
    return converter.book.text(converter.whole())


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


class _Converter:
    def __init__(self, root: dict[str, Any] | bool) -> None:
        self._root = root
        self.book = RuleBook()
        self._names: dict[str, str] = {}
        self._open: list[str] = []
        """Keys of `_named` that nothing was written for yet: to come back to one of them would never end."""

        self._depth = 0

    def whole(self) -> str:
        """The rule for the whole schema, which it may refer to as ``#``."""
        return self._named("#", self._root)

    def rule(self, schema: Any) -> str:
        """The name of the rule, or a short expression, for what fits ``schema``."""
        if not isinstance(schema, dict | bool):
            raise bad_schema("a part of it is no schema")
        asked = (
            {name: value for name, value in schema.items() if name not in NOTES} if isinstance(schema, dict) else schema
        )
        if asked is False:
            raise bad_schema("a part of it allows nothing")
        if asked is True or not asked:
            return self.book.basic("value")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise bad_schema(f"it is more than {MAX_DEPTH} levels deep")
        try:
            return self._composed(asked)
        finally:
            self._depth -= 1

    def _composed(self, schema: dict[str, Any]) -> str:
        check_keywords(schema)
        for name in _IMPOSSIBLE:
            if name in schema:
                raise bad_schema(f"{name} cannot be kept by a grammar")
        if "$ref" in schema:
            rest = {name: value for name, value in schema.items() if name != "$ref"}
            return self._all_of([schema]) if rest else self._reference(schema["$ref"])
        if "allOf" in schema:
            rest = {name: value for name, value in schema.items() if name != "allOf"}
            parts = listed(schema, "allOf")
            return self.rule(parts[0]) if len(parts) == 1 and not rest else self._all_of([*parts, rest])
        for name in ("anyOf", "oneOf"):
            if name in schema:
                rest = {key: value for key, value in schema.items() if key != name}
                choices = listed(schema, name)
                return self._either([self._with(rest, choice) for choice in choices if choice is not False])
        return self._plain(schema)

    def _with(self, rest: dict[str, Any], choice: Any) -> Any:
        return {"allOf": [rest, choice]} if rest and choice is not True else rest or choice

    def _either(self, choices: list[Any]) -> str:
        if not choices:
            raise bad_schema("a part of it allows nothing")
        return self.book.add(either([self.rule(choice) for choice in choices]))

    def _all_of(self, schemas: list[Any]) -> str:
        result: dict[str, Any] = {}
        for schema in schemas:
            result = merged(result, self._flat(schema, 0))
        return self._named(json.dumps(result, sort_keys=True), result)

    def _flat(self, schema: Any, depth: int) -> dict[str, Any]:
        """A schema without ``$ref`` and ``allOf`` at its top."""
        if depth > MAX_DEPTH:
            raise bad_schema("a part of it refers to itself")
        if not isinstance(schema, dict):
            if schema is True:
                return {}
            raise bad_schema("a part of it allows nothing")
        check_keywords(schema)
        result = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
        if "$ref" in schema:
            result = merged(result, self._flat(self._target(schema["$ref"]), depth + 1))
        for part in listed(schema, "allOf") if "allOf" in schema else []:
            result = merged(result, self._flat(part, depth + 1))
        return result

    def _reference(self, reference: Any) -> str:
        return self._named(str(reference), self._target(reference))

    def _named(self, key: str, schema: Any) -> str:
        """The rule for ``schema``, made once for each key and named before its inside, so that it can hold itself."""
        if key in self._open:
            raise bad_schema("a part of it refers to itself")
        if key not in self._names:
            name = self._names[key] = self.book.name()
            self._open.append(key)
            self.book.add(self.rule(schema), name)
            self._open.pop()
        return self._names[key]

    def _inside(self, schema: Any) -> str:
        """The rule for what stands inside brackets: there a schema may come again."""
        kept, self._open = self._open, []
        try:
            return self.rule(schema)
        finally:
            self._open = kept

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise bad_schema(f"{reference!r} refers to another document")
        target: Any = self._root
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and key.isdigit() and int(key) < len(target):
                target = target[int(key)]
            elif isinstance(target, dict) and key in target:
                target = target[key]
            else:
                raise bad_schema(f"{reference} leads nowhere")
        return target

    def _plain(self, schema: dict[str, Any]) -> str:
        if "const" in schema:
            return self._values([schema["const"]], schema)
        if "enum" in schema:
            return self._values(listed(schema, "enum"), schema)
        types = schema.get("type", implied(schema))
        names = types if isinstance(types, list) else [types]
        if not names or any(name not in TYPES for name in names):
            raise bad_schema(f"the type {types!r} is not known")
        makers: dict[str, Callable[[dict[str, Any]], str]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "number": self._number,
            "integer": self._integer,
        }
        rules = [makers[name](schema) if name in makers else self.book.basic(name) for name in names]
        return rules[0] if len(rules) == 1 else self.book.add(either(rules))

    def _values(self, values: list[Any], schema: dict[str, Any]) -> str:
        types = schema.get("type", list(TYPES))
        names = types if isinstance(types, list) else [types]
        fitting = [value for value in values if any(has_type(value, name) for name in names)]
        if not fitting:
            raise bad_schema("no value of an enum or const is allowed")
        return self.book.add(either([json_literal(value) for value in fitting]))

    def _object(self, schema: dict[str, Any]) -> str:
        return self.book.add(object_rule(schema, self.book, self._inside))

    def _array(self, schema: dict[str, Any]) -> str:
        fixed, items = schema.get("prefixItems", []), schema.get("items", True)
        if isinstance(items, list):
            fixed, items = items, schema.get("additionalItems", False)
        least, most = bounded(schema.get("minItems", 0), schema.get("maxItems"), "the number of items")
        if fixed:
            return self.book.add(self._tuple(fixed, items if "items" in schema else False, least, most))
        if items is False or most == 0:
            return self.book.add('"[" ws "]"')
        return self.book.add(f'"[" ws {separated(self.book.add(self._inside(items)), least, most)} "]"')

    def _tuple(self, fixed: list[Any], items: Any, least: int, most: int | None) -> str:
        """All of the fixed items, unless ``maxItems`` is below their number; others behind them."""
        count = len(fixed) if most is None else min(len(fixed), most)
        first = ' "," ws '.join(self._inside(item) for item in fixed[:count])
        if items is False or (most is not None and most <= count):
            if least > count:
                raise bad_schema("it asks for more items than it allows")
            return f'"[" ws {first} ws "]"'
        more = repeated(
            f'( "," ws {self._inside(items)} )', max(0, least - count), None if most is None else most - count
        )
        return f'"[" ws {first} {more} ws "]"'

    def _string(self, schema: dict[str, Any]) -> str:
        pattern = schema.get("pattern", FORMATS.get(schema.get("format", "")))
        if pattern is not None:
            inside = pattern_to_gbnf(pattern, self.book.basic("string") and "char")
            return self.book.add(f'"\\"" {inside} "\\""')
        if "minLength" not in schema and "maxLength" not in schema:
            return self.book.basic("string")
        least, most = bounded(schema.get("minLength", 0), schema.get("maxLength"), "the length of a string")
        self.book.basic("string")
        return self.book.add(f'"\\"" {repeated("char", least, most)} "\\""')

    def _number(self, schema: dict[str, Any]) -> str:
        bounds = bounds_of(schema)
        return self.book.add(numbers(bounds)) if bounds.any else self.book.basic("number")

    def _integer(self, schema: dict[str, Any]) -> str:
        bounds = bounds_of(schema)
        return self.book.add(integers(bounds)) if bounds.any else self.book.basic("integer")
