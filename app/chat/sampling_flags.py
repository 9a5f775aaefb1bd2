"""How tokens are chosen, on the command line. Names as in llama.cpp."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from app.chat.numbers import between, whole
from engine.errors import VrambleError
from engine.protocol.types import LogitBias, Sampling, Thinking
from engine.sampling.check import COUNTS, LIMITS, check_sampling
from engine.sampling.json_schema import grammar_of

MAX_SEED = 2**32 - 1
NO_BREAKERS = "none"
SWITCH = {"on": True, "off": False, "auto": None}

_NUMBERS = {
    "temperature": ("temp", "temperature, 0 for greedy"),
    "top_p": ("top-p", "keep the best tokens up to this share of the probability"),
    "min_p": ("min-p", "drop tokens below this share of the best one's probability"),
    "typical_p": ("typical", "locally typical sampling, 1: off"),
    "top_n_sigma": ("top-nsigma", "keep logits within so many standard deviations of the best, -1: off"),
    "xtc_probability": ("xtc-probability", "how often XTC drops the likeliest tokens, 0: off"),
    "xtc_threshold": ("xtc-threshold", "what XTC takes for likely"),
    "dynatemp_range": ("dynatemp-range", "the temperature moves so far to both sides, 0: off"),
    "dynatemp_exponent": ("dynatemp-exp", "how entropy maps to temperature"),
    "repeat_penalty": ("repeat-penalty", "divides logits of tokens that were there, 1: off"),
    "presence_penalty": ("presence-penalty", "taken once from their logits, 0: off"),
    "frequency_penalty": ("frequency-penalty", "taken for each time they were there, 0: off"),
    "dry_multiplier": ("dry-multiplier", "penalty on repeated sequences, 0: off"),
    "dry_base": ("dry-base", "growth of that penalty"),
    "mirostat_eta": ("mirostat-lr", "how fast Mirostat learns"),
    "mirostat_tau": ("mirostat-ent", "surprise that Mirostat aims at"),
}
_COUNTS = {
    "top_k": ("top-k", "keep the N best tokens, 0: all"),
    "repeat_last_n": ("repeat-last-n", "tokens that the penalties remember, -1: the context"),
    "dry_allowed_length": ("dry-allowed-length", "longest sequence that may repeat"),
    "dry_penalty_last_n": ("dry-penalty-last-n", "tokens that DRY looks back, -1: the context"),
    "mirostat": ("mirostat", "1 or 2: Mirostat in place of the other steps, 0: off"),
}
"""Field of `Sampling` -> flag, help."""


def add_sampling_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags. None is the default of each, so that what was given is known."""
    plain = Sampling()
    group = parser.add_argument_group("how tokens are chosen")
    add = group.add_argument
    add("--seed", metavar="N", type=whole(0, MAX_SEED), help="same seed, same text (default: random)")
    for field, (flag, words) in _NUMBERS.items():
        _, lowest, highest = LIMITS[field]
        words = f"{words} (default {getattr(plain, field):g})"
        add(f"--{flag}", dest=field, metavar="X", type=between(lowest, highest), help=words)
    for field, (flag, words) in _COUNTS.items():
        _, least, most = COUNTS[field]
        words = f"{words} (default {getattr(plain, field)})"
        add(f"--{flag}", dest=field, metavar="N", type=whole(least, most), help=words)
    add(
        "--dry-sequence-breaker",
        metavar="T",
        action="append",
        help=f"text that ends a sequence, in place of the default ones; may be repeated; {NO_BREAKERS}: none",
    )
    add("--logit-bias", metavar="ID(+/-)X", type=_bias, action="append", help="add X to the logit of a token")
    _add_form_flags(parser)


def _add_form_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what the answer looks like").add_argument
    add("--grammar", metavar="GBNF", help="grammar that the answer keeps to")
    add("--grammar-file", metavar="FILE", type=_text_of, help="the same, from a file")
    add("--json-schema", metavar="SCHEMA", help="JSON schema that the answer keeps to, {} for any JSON")
    add("--json-schema-file", metavar="FILE", type=_text_of, help="the same, from a file")
    add("--stop", metavar="T", action="append", default=[], help="text that ends the answer; may be repeated")
    add("--prefill", metavar="T", default="", help="the beginning of the answer, which the model goes on with")
    add("--reasoning", choices=tuple(SWITCH), default="auto", help="whether a thinking model thinks first")
    add("--reasoning-budget", metavar="N", type=whole(-1), default=-1, help="most tokens of a thought, -1: no limit")


def read_sampling_flags(arguments: argparse.Namespace) -> Sampling:
    """The parameters as given; what makes no sense ends the command with exit code 2."""
    error: Callable[[str], Any] = arguments.parser.error
    names = ("seed", *_NUMBERS, *_COUNTS)
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    breakers = arguments.dry_sequence_breaker
    if breakers is not None:
        given["dry_sequence_breakers"] = tuple(text for text in map(_unescaped, breakers) if text != NO_BREAKERS)
    if arguments.logit_bias is not None:
        given["logit_bias"] = tuple(arguments.logit_bias)
    for name in ("grammar", "json_schema"):
        texts = [text for text in (getattr(arguments, name), getattr(arguments, f"{name}_file")) if text is not None]
        if len(texts) > 1:
            error(f"--{name.replace('_', '-')} is given twice")
        given[name] = texts[0] if texts else ""
    sampling = msgspec.structs.replace(Sampling(), **given)
    try:
        check_sampling(sampling)
        if sampling.json_schema.strip():
            grammar_of(sampling.json_schema)
    except VrambleError as problem:
        error(problem.sentence)
    return sampling


def read_thinking_flags(arguments: argparse.Namespace) -> Thinking:
    """How much the model may think."""
    budget = arguments.reasoning_budget
    return Thinking(enabled=SWITCH[arguments.reasoning], budget=None if budget < 0 else budget)


def _bias(text: str) -> LogitBias:
    match = re.fullmatch(r"(\d{1,9})([+-]\d{1,6}(?:\.\d{1,6})?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no token with a bias, such as 15043+1 or 15043-2.5")
    return LogitBias(int(match[1]), float(match[2]))


def _text_of(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error}") from None


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")
