"""The speed limit, by a clock that only its own waits turn."""

from __future__ import annotations

import pytest

from engine.downloads.throttle import LARGEST_READ, SMALLEST_READ, Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("limit", [16_384, 1_000_000, 50_000_000])
def test_bytes_take_as_long_as_they_should(limit: int) -> None:
    clock = Clock()
    throttle = Throttle(limit, clock, clock.sleep)
    for _ in range(1000):
        throttle.passed(throttle.read_size)
    assert 1000 * throttle.read_size / (clock.now - 100) == pytest.approx(limit, rel=0.01)
    assert SMALLEST_READ <= throttle.read_size <= LARGEST_READ


def test_without_a_limit_nothing_waits() -> None:
    clock = Clock()
    throttle = Throttle(None, clock, clock.sleep)
    throttle.passed(1 << 30)
    assert clock.now == 100
    throttle.set_limit(1000)
    throttle.passed(10_000)
    assert clock.now == pytest.approx(110)
    throttle.set_limit(None)
    throttle.passed(1 << 30)
    assert clock.now == pytest.approx(110)


def test_a_pause_is_not_made_up_for() -> None:
    clock = Clock()
    throttle = Throttle(1000, clock, clock.sleep)
    clock.now += 3600
    for _ in range(10):
        throttle.passed(1000)
    assert clock.now - 3700 == pytest.approx(9.75)
