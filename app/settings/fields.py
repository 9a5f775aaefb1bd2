"""Settings records to plain values and back, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from engine.chat.text import clean

T = TypeVar("T", bound=msgspec.Struct)


def feature_name(feature: type[msgspec.Struct]) -> str:
    """Key of a record in the file: ``ChatSettings`` is kept under ``chat``."""
    return feature.__name__.removesuffix("Settings").lower()


def decode(feature: type[T], values: object) -> T:
    """The record with every value of ``values`` that fits its field; the default for each that does not.

    Every field of a settings record has a default.
    """
    if not isinstance(values, Mapping):
        return feature()
    accepted: dict[str, Any] = {}
    for field in msgspec.structs.fields(feature):
        if field.encode_name in values:
            try:
                accepted[field.name] = msgspec.convert(values[field.encode_name], field.type)
            except msgspec.ValidationError:
                continue
    return feature(**accepted)


def changes(before: msgspec.Struct, after: msgspec.Struct) -> dict[str, Any]:
    """Plain values of the fields that differ, fit for JSON."""
    return {
        field.encode_name: _plain(getattr(after, field.name))
        for field in msgspec.structs.fields(type(after))
        if getattr(before, field.name) != getattr(after, field.name)
    }


def _plain(value: object) -> object:
    plain = msgspec.to_builtins(value)
    return clean(plain) if isinstance(plain, str) else plain


def merged(document: Mapping[str, Any], changed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """``document`` with ``changed`` (feature, field, value) laid over it; all else is kept."""
    result = dict(document)
    for feature, values in changed.items():
        present = result.get(feature)
        result[feature] = {**(present if isinstance(present, Mapping) else {}), **values}
    return result
