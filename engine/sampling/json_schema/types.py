"""The types of JSON, as schemas name them."""

from __future__ import annotations

from typing import Any

from engine.sampling.json_schema.problem import bad_schema

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "enum", "prefixItems", "required")
_TEXTS = ("pattern", "format", "$ref")
_HINTS = {
    "object": ("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Type -> keywords that mean it where no type is given."""


def listed(schema: dict[str, Any], name: str) -> list[Any]:
    """An array that a keyword needs.

    Raises:
        VrambleError: ``bad-json-schema``: it is none, or empty.
    """
    values = schema[name]
    if not isinstance(values, list) or not values:
        raise bad_schema(f"{name} has to be an array that is not empty")
    return values


def implied(schema: dict[str, Any]) -> Any:
    """The type that the other keywords mean; all of them when none does."""
    for name, words in _HINTS.items():
        if any(word in schema for word in words):
            return name
    return [name for name in TYPES if name != "integer"]


def has_type(value: Any, name: str) -> bool:
    """Whether a value has the type of that name; 1.0 is an integer."""
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    kinds: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "string": str, "number": (int, float)}
    return (
        isinstance(value, kinds[name])
        if name in kinds
        else name == "integer" and isinstance(value, int | float) and value == int(value)
    )


def check_keywords(schema: dict[str, Any]) -> None:
    """Refuse keywords whose values are not what they have to be.

    Raises:
        VrambleError: ``bad-json-schema``.
    """
    for name, value in schema.items():
        if name in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise bad_schema(f"{name} has to be a whole number from 0 on")
        if name in _LISTS and not isinstance(value, list):
            raise bad_schema(f"{name} has to be an array")
        if name in _TEXTS and not isinstance(value, str):
            raise bad_schema(f"{name} has to be a text")
    if not all(isinstance(name, str) for name in schema.get("required", [])):
        raise bad_schema("required has to list names")
    if not isinstance(schema.get("properties", {}), dict):
        raise bad_schema("properties has to be an object")
