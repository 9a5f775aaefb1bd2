"""What is wrong with grammar, JSON schema and biases of a conversation, told where they are typed. Pure."""

from __future__ import annotations

import re
from typing import Final

from app.chat.settings import ChatSettings
from engine.errors import VrambleError
from engine.protocol.types import LogitBias
from engine.sampling.check import MAX_BIASES
from engine.sampling.gbnf import check_grammar
from engine.sampling.json_schema import grammar_of

LONGEST_LOOK: Final = 20_000
"""Characters that are looked at while they are typed; longer ones are told by the engine."""
BOTH: Final = "A grammar and a JSON schema cannot be used together."
STRONGEST: Final = 1000.0
_ENTRY: Final = re.compile(r"\s*(\d{1,9})\s*[:=\s]\s*([+-]?\d+(?:\.\d+)?)\s*")


def problem_of(settings: ChatSettings, field: str) -> str:
    """A sentence about the grammar or the schema, "" when it can be used."""
    text = getattr(settings, field)
    if not text.strip():
        return ""
    if settings.grammar.strip() and settings.json_schema.strip():
        return BOTH
    if len(text) > LONGEST_LOOK:
        return ""
    try:
        if field == "json_schema":
            grammar_of(text)
        else:
            check_grammar(text)
    except VrambleError as error:
        return error.message
    return ""


def biases_in(text: str) -> tuple[LogitBias, ...]:
    """One bias a line, the number of the token first: ``1234: -5``.

    Raises:
        VrambleError: ``bad-sampling`` with the line that is none.
    """
    found: dict[int, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            raise VrambleError("bad-sampling", f"Line {number} is not a token's number and a bias, as in 1234: -5.")
        bias = float(entry[2])
        if abs(bias) > STRONGEST:
            raise VrambleError("bad-sampling", f"Line {number}: a bias is from -1000 to 1000.")
        found[int(entry[1])] = bias
    if len(found) > MAX_BIASES:
        raise VrambleError("bad-sampling", f"There can be {MAX_BIASES} biases, not {len(found)}.")
    return tuple(LogitBias(token, bias) for token, bias in found.items())


def bias_text(biases: tuple[LogitBias, ...]) -> str:
    """The inverse of `biases_in`."""
    return "\n".join(f"{entry.token}: {entry.bias:g}" for entry in biases)
