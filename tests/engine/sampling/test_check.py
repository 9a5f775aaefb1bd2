"""Sampling parameters that cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import VrambleError
from engine.protocol.types import LogitBias, Sampling
from engine.sampling.check import COUNTS, LIMITS, check_sampling


def test_the_defaults_are_well() -> None:
    check_sampling(Sampling())


@pytest.mark.parametrize("name", [*LIMITS, *COUNTS])
def test_limits_are_in_and_what_is_beyond_is_out(name: str) -> None:
    _, lowest, highest = {**LIMITS, **COUNTS}[name]
    value: Any
    for value in (lowest, highest):
        check_sampling(Sampling(**{name: value}))
    for value in (lowest - 1, highest + 1, float("nan"), float("inf")):
        with pytest.raises(VrambleError, match="has to be from") as caught:
            check_sampling(Sampling(**{name: value}))
        assert caught.value.code == "bad-sampling"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"logit_bias": (LogitBias(-1, 1.0),)}, "no token -1"),
        ({"logit_bias": (LogitBias(7, float("nan")),)}, "bias of token 7 is no number"),
        ({"logit_bias": (LogitBias(7, 1.0),) * 10_001}, "10000 logit biases"),
        ({"grammar": 'root ::= "a"', "json_schema": "{}"}, "cannot be used together"),
        ({"grammar": "a" * (1 << 20) + "b"}, "characters long"),
        ({"dry_sequence_breakers": ("x",) * 65}, "64 sequence breakers"),
    ],
)
def test_what_cannot_be_meant(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(VrambleError, match=words):
        check_sampling(Sampling(**fields))
