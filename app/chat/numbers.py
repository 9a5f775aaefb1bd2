"""Numbers on the command line, refused with a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A type for `argparse`: whole numbers from ``lowest`` to ``highest``."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if value < lowest or (highest is not None and value > highest):
            limit = f"at least {lowest}" if highest is None else f"from {lowest} to {highest}"
            raise argparse.ArgumentTypeError(f"{text} has to be {limit}")
        return value

    return parse


def between(lowest: float, highest: float) -> Callable[[str], float]:
    """A type for `argparse`: numbers from ``lowest`` to ``highest``."""

    def parse(text: str) -> float:
        value = finite(text)
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(f"{text} has to be from {lowest:g} to {highest:g}")
        return value

    return parse


def not_negative(text: str) -> float:
    """A finite number from 0 on."""
    value = finite(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} has to be 0 or more")
    return value


def finite(text: str) -> float:
    """Any number, but no infinity and no NaN."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} has to be finite")
    return value
