"""Numbers between bounds, as digits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from engine.sampling.json_schema.gbnf import either, literal, repeated
from engine.sampling.json_schema.problem import bad_schema

FAR = Fraction(10**15)
"""Numbers without a bound end here: floating point keeps them whole up to 2^53."""

MOST_DECIMALS = 6
MOST_DIGITS = 40


@dataclass(frozen=True)
class Bounds:
    """Lowest and highest value, and whether they themselves are out."""

    low: Fraction | None
    high: Fraction | None
    above: bool = False
    below: bool = False

    @property
    def any(self) -> bool:
        """Whether there is a bound at all."""
        return self.low is not None or self.high is not None


def bounds_of(schema: dict[str, Any]) -> Bounds:
    """The bounds in a schema. ``exclusiveMinimum`` may be a number, or true as in draft 4."""
    low, above = _tighter(schema, "minimum", "exclusiveMinimum", up=True)
    high, below = _tighter(schema, "maximum", "exclusiveMaximum", up=False)
    return Bounds(low, high, above, below)


def _tighter(schema: dict[str, Any], inclusive: str, exclusive: str, *, up: bool) -> tuple[Fraction | None, bool]:
    bound, out = _number(schema, inclusive), schema.get(exclusive)
    if isinstance(out, bool):
        return bound, out and bound is not None
    other = _number(schema, exclusive)
    if other is None or (bound is not None and (bound > other if up else bound < other)):
        return bound, False
    return other, True


def _number(schema: dict[str, Any], name: str) -> Fraction | None:
    value = schema.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_schema(f"{name} is no number")
    if not abs(value) < 10**MOST_DIGITS:
        raise bad_schema(f"{name} is too large")
    return Fraction(repr(value))


def integers(bounds: Bounds) -> str:
    """Whole numbers within the bounds."""
    low, high = _scaled(bounds, 0)
    if low > high:
        raise bad_schema("no whole number lies between minimum and maximum")
    return _signed(low, high, 0)


def numbers(bounds: Bounds) -> str:
    """Whole numbers within the bounds, and decimals with up to one digit more than the bounds have."""
    given = [_decimals(bound) for bound in (bounds.low, bounds.high) if bound is not None]
    most = min(max(given, default=0) + 1, max([MOST_DECIMALS, *given]))
    spans = [(*_scaled(bounds, places), places) for places in range(most + 1)]
    choices = [_signed(low, high, places) for low, high, places in spans if low <= high]
    if not choices:
        raise bad_schema("no number lies between minimum and maximum")
    return either(choices)


def _decimals(bound: Fraction) -> int:
    """Digits behind the point, up to `MOST_DIGITS`."""
    return next((places for places in range(MOST_DIGITS) if (bound * 10**places).denominator == 1), MOST_DIGITS)


def _scaled(bounds: Bounds, places: int) -> tuple[int, int]:
    """The bounds in units of the last place, both inside."""
    unit = 10**places
    low = bounds.low if bounds.low is not None else min(-FAR, (bounds.high or FAR) * 10 - FAR)
    high = bounds.high if bounds.high is not None else max(FAR, low * 10 + FAR)
    least, most = ceil(low * unit), floor(high * unit)
    return (
        least + (bounds.above and least == low * unit),
        most - (bounds.below and most == high * unit),
    )


def _signed(low: int, high: int, places: int) -> str:
    choices = []
    if low < 0:
        choices.append(f'"-" {_unsigned(max(1, -high), -low, places)}')
    if high >= 0:
        choices.append(_unsigned(max(0, low), high, places))
    return either(choices)


def _unsigned(low: int, high: int, places: int) -> str:
    """``low`` to ``high``, with the last ``places`` digits behind the point."""
    choices = []
    for length in range(max(len(str(low)), places + 1), max(len(str(high)), places + 1) + 1):
        first = low if length == places + 1 else max(low, 10 ** (length - 1))
        last = min(high, 10**length - 1)
        if first <= last:
            digits = _Digits(length - places if places else None)
            choices.append(digits.between(f"{first:0{length}}", f"{last:0{length}}", 0))
    return either(choices)


class _Digits:
    """Digit strings of one length; ``point``: the place that has the decimal point before it."""

    def __init__(self, point: int | None) -> None:
        self._point = point

    def between(self, low: str, high: str, at: int) -> str:
        if low == high:
            return self._exactly(low, at)
        if low[0] == high[0]:
            return f"{self._exactly(low[0], at)} {self.between(low[1:], high[1:], at + 1)}"
        if set(low) == {"0"} and set(high) == {"9"}:
            return self._any(at, len(low))
        first, last = int(low[0]), int(high[0])
        choices = [f"{self._exactly(low[0], at)} {self._from(low[1:], at + 1)}".strip()]
        if last - first > 1:
            choices.append(f"{self._one_of(first + 1, last - 1, at)} {self._any(at + 1, len(low) - 1)}".strip())
        choices.append(f"{self._exactly(high[0], at)} {self._up_to(high[1:], at + 1)}".strip())
        return either(choices)

    def _from(self, low: str, at: int) -> str:
        return self.between(low, "9" * len(low), at) if low else ""

    def _up_to(self, high: str, at: int) -> str:
        return self.between("0" * len(high), high, at) if high else ""

    def _exactly(self, digits: str, at: int) -> str:
        split = None if self._point is None else self._point - at
        if split is not None and 0 <= split < len(digits):
            digits = f"{digits[:split]}.{digits[split:]}"
        return literal(digits)

    def _one_of(self, first: int, last: int, at: int) -> str:
        return ('"." ' if at == self._point else "") + (f"[{first}-{last}]" if first < last else literal(str(first)))

    def _any(self, at: int, count: int) -> str:
        if count == 0:
            return ""
        split = None if self._point is None else self._point - at
        if split is None or not 0 <= split < count:
            return repeated("[0-9]", count, count)
        before = f"{repeated('[0-9]', split, split)} " if split else ""
        return f'{before}"." {repeated("[0-9]", count - split, count - split)}'
