"""A plain validator for the part of JSON Schema that the grammars keep. Written apart from the code it checks."""

from __future__ import annotations

import re
from typing import Any

KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def valid(value: Any, schema: Any, root: Any = None) -> bool:
    root = schema if root is None else root
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema and not valid(value, resolve(root, schema["$ref"]), root):
        return False
    checks = (combined, typed, text, number, array, members)
    return all(check(value, schema, root) for check in checks)


def resolve(root: Any, reference: str) -> Any:
    for step in reference.split("/")[1:]:
        root = root[step.replace("~1", "/").replace("~0", "~")]
    return root


def combined(value: Any, schema: dict[str, Any], root: Any) -> bool:
    for word in ("anyOf", "oneOf"):
        if word in schema and not any(valid(value, choice, root) for choice in schema[word]):
            return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    if "enum" in schema and not any(same(value, choice) for choice in schema["enum"]):
        return False
    return all(valid(value, part, root) for part in schema.get("allOf", []))


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def is_a(value: Any, name: str) -> bool:
    if name == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, KINDS[name])


def typed(value: Any, schema: dict[str, Any], _root: Any) -> bool:
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    return not names or any(is_a(value, name) for name in names)


def text(value: Any, schema: dict[str, Any], _root: Any) -> bool:
    if not isinstance(value, str):
        return True
    if "pattern" in schema:
        return re.search(schema["pattern"], value) is not None
    return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))


def number(value: Any, schema: dict[str, Any], _root: Any) -> bool:
    if not is_a(value, "number"):
        return True
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    above, below = schema.get("exclusiveMinimum", value - 1), schema.get("exclusiveMaximum", value + 1)
    return bool(low <= value <= high and above < value < below)


def array(value: Any, schema: dict[str, Any], root: Any) -> bool:
    if not isinstance(value, list):
        return True
    fixed = schema.get("prefixItems", [])
    if not all(valid(item, sub, root) for item, sub in zip(value, fixed, strict=False)):
        return False
    if not all(valid(item, schema.get("items", True), root) for item in value[len(fixed) :]):
        return False
    return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))


def members(value: Any, schema: dict[str, Any], root: Any) -> bool:
    if not isinstance(value, dict):
        return True
    named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if not all(name in value for name in schema.get("required", [])):
        return False
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    return all(valid(item, named.get(name, others), root) for name, item in value.items())
