"""Two schemas that both have to hold, as one."""

from __future__ import annotations

from typing import Any

from engine.sampling.json_schema.problem import bad_schema

NOTES = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "$schema", "$id", "$anchor", "$defs", "definitions"),
    )
)
"""Keywords that ask for nothing."""

_HIGHEST = frozenset(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"])
_LOWEST = frozenset(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"])


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A schema for what fits both.

    Raises:
        VrambleError: ``bad-json-schema``: they have keywords that cannot be put together.
    """
    result = dict(one)
    for name, value in other.items():
        result[name] = value if name not in result or name in NOTES else _both(name, result[name], value)
    return result


def _both(name: str, one: Any, other: Any) -> Any:
    if one == other:
        return one
    if name in _HIGHEST and _are_numbers(one, other):
        return max(one, other)
    if name in _LOWEST and _are_numbers(one, other):
        return min(one, other)
    if name == "type":
        return _types(one, other)
    if name == "enum":
        return [value for value in one if value in other]
    if name == "required":
        return list(dict.fromkeys([*one, *other]))
    if name == "properties":
        return {key: _schemas(one.get(key, True), other.get(key, True)) for key in {**one, **other}}
    if name in {"items", "additionalProperties"}:
        return _schemas(one, other)
    if name in {"anyOf", "oneOf"}:
        return [_schemas(left, right) for left in one for right in other]
    raise bad_schema(f"{name} is asked for twice with different values")


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _types(one: Any, other: Any) -> list[str]:
    left, right = (value if isinstance(value, list) else [value] for value in (one, other))
    both = [name for name in left if name in right]
    if ("number" in left and "integer" in right) or ("integer" in left and "number" in right):
        both.append("integer")
    if not both:
        raise bad_schema("two types are asked for at once")
    return list(dict.fromkeys(both))


def _schemas(one: Any, other: Any) -> Any:
    if one is True or other is True:
        return other if one is True else one
    if one is False or other is False:
        return False
    return {"allOf": [one, other]}
