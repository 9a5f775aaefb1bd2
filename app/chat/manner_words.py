"""``/set NAME VALUE``: what can be changed in a conversation, and how it reads."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from app.chat.sampling_flags import MAX_SEED, SWITCH
from app.chat.talk import Manner
from engine.errors import VrambleError
from engine.protocol.types import Thinking
from engine.sampling.check import COUNTS, LIMITS, check_sampling
from engine.sampling.json_schema import grammar_of

CODE = "bad-setting"
NONE = "none"
SHOWN = 60
"""Characters of a value in the list."""

ALIASES: Mapping[str, str] = {"temp": "temperature", "typical": "typical_p", "n_predict": "max_tokens"}
TEXTS = ("grammar", "json_schema")
OWN = ("system", "max_tokens", "stop", "prefill", "reasoning", "reasoning_budget")
NAMES = (*LIMITS, *COUNTS, "seed", *TEXTS, *OWN)
"""All that can be set, in the order in which they are shown."""


def changed(manner: Manner, name: str, value: str) -> Manner:
    """``manner`` with one value changed; ``none`` takes it away where that means something.

    Raises:
        VrambleError: There is no such name, or the value cannot be meant.
    """
    field = full_name(name)
    if field in OWN:
        return replace(manner, **_own(manner, field, value))
    sampling = msgspec.structs.replace(manner.sampling, **{field: _sampling_value(field, value)})
    if field in TEXTS:
        others = {other: "" for other in TEXTS if other != field}
        sampling = msgspec.structs.replace(sampling, **others)
    check_sampling(sampling)
    if sampling.json_schema.strip():
        grammar_of(sampling.json_schema)
    return replace(manner, sampling=sampling)


def full_name(name: str) -> str:
    """The field that ``name`` means, written with dashes or underscores.

    Raises:
        VrambleError: None.
    """
    field = name.strip().lower().lstrip("-").replace("-", "_")
    field = ALIASES.get(field, field)
    if field not in NAMES:
        raise VrambleError(CODE, f"There is nothing called {name} to set.", "/set alone shows what there is.")
    return field


def shown(manner: Manner, name: str) -> str:
    """The present value as text."""
    field = full_name(name)
    if field == "reasoning":
        return next(word for word, value in SWITCH.items() if value is manner.thinking.enabled)
    values: dict[str, Any] = {"reasoning_budget": manner.thinking.budget, "stop": ", ".join(manner.stop)}
    value = values[field] if field in values else getattr(manner if field in OWN else manner.sampling, field)
    return NONE if value is None or value == "" else f"{value:g}" if isinstance(value, float) else str(value)


def listed(manner: Manner) -> str:
    """All values, a line for each; those that differ from the defaults are marked."""
    plain = Manner()
    width = max(map(len, NAMES))
    lines = []
    for name in NAMES:
        value = shown(manner, name)
        mark = " " if value == shown(plain, name) else "*"
        lines.append(f"{mark} {name.ljust(width)}  {textwrap.shorten(value, SHOWN)}")
    return "\n".join(lines)


def _sampling_value(field: str, value: str) -> object:
    if field in TEXTS:
        return "" if value.lower() == NONE else value
    if field == "seed":
        return None if value.lower() == NONE else _number(field, value, 0, MAX_SEED)
    if field in COUNTS:
        _, least, most = COUNTS[field]
        return _number(field, value, least, most)
    return _converted(field, value, float)


def _own(manner: Manner, field: str, value: str) -> dict[str, Any]:
    nothing = value.lower() == NONE
    if field == "reasoning":
        if value.lower() not in SWITCH:
            raise VrambleError(CODE, f"reasoning can be {', '.join(SWITCH)}.")
        enabled = SWITCH[value.lower()]
        return {"thinking": msgspec.structs.replace(manner.thinking, enabled=enabled)}
    if field == "reasoning_budget":
        budget = None if nothing or value == "-1" else _number(field, value, 0)
        return {"thinking": Thinking(enabled=manner.thinking.enabled, budget=budget)}
    if field == "max_tokens":
        return {"max_tokens": None if nothing else _number(field, value, 1)}
    if field == "stop":
        return {"stop": () if nothing else (value,)}
    return {field: "" if nothing else value}


def _number(field: str, value: str, least: int, most: int | None = None) -> int:
    number: int = _converted(field, value, int)
    if number < least or (most is not None and number > most):
        limit = f"at least {least}" if most is None else f"from {least} to {most}"
        raise VrambleError(CODE, f"{field} has to be {limit}.")
    return number


def _converted(field: str, value: str, kind: type[Any]) -> Any:
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise VrambleError(CODE, f"{field} is {what}, not {value!r}.") from None
