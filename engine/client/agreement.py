"""What a self-test says: whether a device computes numbers at all, and the same ones as the CPU. Pure.

Two healthy devices never give equal logits: kernels round differently, and quantise what flows between the layers. So
no tokens are compared as text. At each place the CPU is asked how far it puts the device's first choice behind its
own, in natural logarithms of probability: 0 where both choose the same token, little where two tokens are close,
much where the device is wrong. And it is asked for its own probability of each token that the device finds likely;
of these distances the median over the places counts, because a mixture-of-experts model may take another expert at
a place where two are close, and is right with both.

Where the limits come from (a model of 135M parameters; f16, q8_0, q4_0, q4_1, q4_K and q2_K weights, KV cache f16,
q8_0 and q4_0; Vulkan through llvmpipe, and the CPU with repacked weights, against the CPU): choices were at most 0.31
behind, distances 0.002 to 0.04 with f16 weights and 0.03 to 0.21 with quantised ones, where what flows between the
layers is rounded. Faults in every layer (a tile of 32 rows missing, rows exchanged, noise of a third of the weights'
size) gave distances of 0.96 to 5.3 and choices up to 15 behind; one faulty layer of thirty 0.44 to 0.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from statistics import fmean, median
from typing import Final

import msgspec

from engine.protocol.probe import Candidate, Position, Probe

NEAR_TIE: Final = 1.0
"""A choice that the CPU puts no farther behind its own is no disagreement."""

MOST_WRONG: Final = 0.25
"""Share of places at which the choices may disagree."""

MOST_APART: Final = 0.5
"""Distance between the logarithms of probability: mean over the likely tokens of a place, median over the places."""

LIKELY: Final = -7.0
"""Logarithm of the probability (1 in 1,100) from which on a token of the device is looked at."""

UNKNOWN: Final = -30.0
"""For a token that the CPU did not tell of, which happens only where it forbids it."""

FEWEST_PLACES: Final = 4
"""With fewer of them the same choice may be chance."""


class Outcome(StrEnum):
    """What came of a self-test."""

    OK = "ok"
    UNCHECKED = "unchecked"
    """Nothing is known to be wrong, but the comparison with the CPU was not made."""
    NO_NUMBERS = "no-numbers"
    CONSTANT = "constant"
    DISAGREES = "disagrees"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome, and the figures behind it as lines for a report."""

    outcome: Outcome
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Something is wrong."""
        return self.outcome in FAILED


FAILED: Final = frozenset({Outcome.NO_NUMBERS, Outcome.CONSTANT, Outcome.DISAGREES})


def look_at(probe: Probe) -> Finding:
    """What a probe shows without the CPU: numbers, and not the same choice wherever one looks."""
    if probe.skipped or not probe.positions:
        return Finding(outcome=Outcome.UNCHECKED, detail=probe.skipped or "Nothing was read off.")
    broken = [str(place.read) for place in probe.positions if not place.finite]
    if broken:
        return Finding(outcome=Outcome.NO_NUMBERS, detail=f"No valid numbers after {', '.join(broken)} tokens.")
    choices = [place.best[0].token for place in probe.positions]
    if len(choices) >= FEWEST_PLACES and len(set(choices)) == 1:
        detail = f"Token {choices[0]} at all {len(choices)} places."
        return Finding(outcome=Outcome.CONSTANT, detail=detail)
    return Finding(outcome=Outcome.OK)


def compare(device: Probe, cpu: Probe) -> Finding:
    """Whether ``device`` agrees with what the CPU made of the same tokens. Both hold numbers at each place."""
    places = list(zip(device.positions, cpu.positions, strict=False))
    if not places or not all(ours.best and theirs.best for ours, theirs in places):
        return Finding(outcome=Outcome.UNCHECKED, detail="The CPU computed no valid numbers itself.")
    behind = [_behind(ours, theirs) for ours, theirs in places]
    apart = median(_apart(ours, theirs) for ours, theirs in places)
    wrong = sum(distance > NEAR_TIE for distance in behind)
    bad = wrong > MOST_WRONG * len(places) or apart > MOST_APART
    return Finding(outcome=Outcome.DISAGREES if bad else Outcome.OK, detail=_figures(places, behind, apart, wrong))


def _behind(device: Position, cpu: Position) -> float:
    """How far the CPU puts the device's choice behind its own."""
    return cpu.best[0].logprob - _told(cpu.best, device.best[0].token)


def _apart(device: Position, cpu: Position) -> float:
    likely = [item for item in device.best if item.logprob > LIKELY] or list(device.best[:1])
    return fmean(abs(item.logprob - _told(cpu.best, item.token)) for item in likely)


def _told(best: Sequence[Candidate], token: int) -> float:
    return next((item.logprob for item in best if item.token == token), UNKNOWN)


def _figures(places: Sequence[tuple[Position, Position]], behind: Sequence[float], apart: float, wrong: int) -> str:
    lines = [
        f"{wrong} of {len(places)} choices are over {NEAR_TIE:g} behind, allowed {int(MOST_WRONG * len(places))}.",
        f"Median distance of the logarithms of probability: {apart:.2f}; allowed: {MOST_APART:g}.",
    ]
    lines += [
        f"After {ours.read} tokens: device {ours.best[0].token}, CPU {theirs.best[0].token}, behind by {distance:.2f}"
        for (ours, theirs), distance in zip(places, behind, strict=True)
    ]
    return "\n".join(lines)
