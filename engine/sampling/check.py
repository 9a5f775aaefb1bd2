"""Sampling parameters that cannot be meant, found before native code sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from engine.errors import VrambleError
from engine.protocol.types import Sampling

CODE = "bad-sampling"
OTHER_VALUE = "Change the sampling parameters."

MAX_TEMPERATURE = 100.0
MAX_COUNT = 16_777_216
MAX_BIASES = 10_000
MAX_BREAKERS = 64
MAX_GRAMMAR = 1 << 20
"""Characters of a grammar or schema."""

LIMITS: dict[str, tuple[str, float, float]] = {
    "temperature": ("The temperature", 0, MAX_TEMPERATURE),
    "top_p": ("Top-p", 0, 1),
    "min_p": ("Min-p", 0, 1),
    "typical_p": ("Typical-p", 0, 1),
    "top_n_sigma": ("Top-n-sigma", -1, 100),
    "xtc_probability": ("The probability of XTC", 0, 1),
    "xtc_threshold": ("The threshold of XTC", 0, 1),
    "dynatemp_range": ("The range of the dynamic temperature", 0, MAX_TEMPERATURE),
    "dynatemp_exponent": ("The exponent of the dynamic temperature", 0, 100),
    "repeat_penalty": ("The repeat penalty", 0.01, 100),
    "frequency_penalty": ("The frequency penalty", -100, 100),
    "presence_penalty": ("The presence penalty", -100, 100),
    "dry_multiplier": ("The multiplier of DRY", 0, 100),
    "dry_base": ("The base of DRY", 1, 100),
    "mirostat_tau": ("Mirostat's tau", 0, 100),
    "mirostat_eta": ("Mirostat's eta", 0, 1),
}
"""Name of the field -> words, lowest, highest; finite numbers."""

COUNTS: dict[str, tuple[str, int, int]] = {
    "top_k": ("Top-k", 0, MAX_COUNT),
    "repeat_last_n": ("What the penalties remember", -1, MAX_COUNT),
    "dry_allowed_length": ("The length that DRY allows", 0, MAX_COUNT),
    "dry_penalty_last_n": ("What DRY looks back on", -1, MAX_COUNT),
    "mirostat": ("The version of Mirostat", 0, 2),
}
"""Name of the field -> words, lowest, highest; whole numbers."""


def check_sampling(sampling: Sampling) -> None:
    """Refuse what cannot be meant.

    Raises:
        VrambleError: ``bad-sampling`` with one sentence.
    """
    for rule in (_numbers, _counts, _biases, _texts):
        for message in rule(sampling):
            raise VrambleError(CODE, message, OTHER_VALUE)


Rule = Callable[[Sampling], Iterator[str]]


def _numbers(sampling: Sampling) -> Iterator[str]:
    for name, (words, lowest, highest) in LIMITS.items():
        value = getattr(sampling, name)
        if not lowest <= value <= highest:
            yield f"{words} has to be from {lowest:g} to {highest:g}, not {value:g}."


def _counts(sampling: Sampling) -> Iterator[str]:
    for name, (words, lowest, highest) in COUNTS.items():
        value = getattr(sampling, name)
        if not lowest <= value <= highest:
            yield f"{words} has to be from {lowest} to {highest}, not {value}."


def _biases(sampling: Sampling) -> Iterator[str]:
    if len(sampling.logit_bias) > MAX_BIASES:
        yield f"There can be {MAX_BIASES} logit biases, not {len(sampling.logit_bias)}."
    for entry in sampling.logit_bias:
        if not isfinite(entry.bias):
            yield f"The bias of token {entry.token} is no number."
        elif entry.token < 0:
            yield f"There is no token {entry.token}."


def _texts(sampling: Sampling) -> Iterator[str]:
    if sampling.grammar.strip() and sampling.json_schema.strip():
        yield "A grammar and a JSON schema cannot be used together."
    if max(len(sampling.grammar), len(sampling.json_schema)) > MAX_GRAMMAR:
        yield f"A grammar or a JSON schema can be {MAX_GRAMMAR} characters long."
    if len(sampling.dry_sequence_breakers) > MAX_BREAKERS:
        yield f"DRY can have {MAX_BREAKERS} sequence breakers, not {len(sampling.dry_sequence_breakers)}."
