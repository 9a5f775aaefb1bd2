"""Which variant won a race, and whether the figures are far enough apart to say so."""

from __future__ import annotations

import msgspec

from engine.bench.records import Report, VariantResult


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a race.

    Attributes:
        winner: The fastest variant.
        second: The next one.
        factor: How many times as fast the winner is.
        clear: Even the winner's slowest run beats the second one's fastest.
    """

    winner: VariantResult
    second: VariantResult
    factor: float
    clear: bool


class _Seconds(msgspec.Struct, frozen=True):
    median: float
    best: float
    worst: float


def judge(report: Report) -> Verdict | None:
    """The verdict by the time of a turn without depth: what was read, and what was generated.

    None when fewer than two variants got that far without an error.
    """
    timed = [(seconds, variant) for variant in report.measured if not variant.error and (seconds := _turn(variant))]
    if len(timed) < 2:
        return None
    (first, winner), (next_, second) = sorted(timed, key=lambda entry: entry[0].median)[:2]
    return Verdict(winner=winner, second=second, factor=next_.median / first.median, clear=first.worst < next_.best)


def _turn(variant: VariantResult) -> _Seconds | None:
    """Seconds for the tests of the least depth together."""
    least = min((test.test.depth for test in variant.tests if test.samples), default=0)
    sums = [0.0, 0.0, 0.0]
    for result in variant.tests:
        if result.test.depth != least:
            continue
        if result.stopped:
            return None
        for tokens, rate in ((result.test.prompt, result.prefill), (result.test.generated, result.decode)):
            if tokens and rate is None:
                return None
            if tokens and rate is not None:
                for place, speed in enumerate((rate.median, rate.high, rate.low)):
                    sums[place] += tokens / speed
    return _Seconds(*sums) if sums[0] > 0 else None
