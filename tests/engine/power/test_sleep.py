"""Sleep by the difference of two clocks."""

from __future__ import annotations

import time

import pytest

from engine.power.sleep import SleepMeter, boot_seconds


class Machine:
    """Two clocks."""

    def __init__(self) -> None:
        self.boot, self.mono = 5000.0, 4000.0
        self.meter = SleepMeter(lambda: self.boot, lambda: self.mono)

    def run(self, seconds: float) -> None:
        self.boot += seconds
        self.mono += seconds


def test_time_awake_is_no_sleep() -> None:
    machine = Machine()
    for _ in range(10):
        machine.run(3600)
        assert machine.meter.look() == 0.0


@pytest.mark.parametrize("seconds", [1.5, 60.0, 8 * 3600.0])
def test_sleep_is_told_once(seconds: float) -> None:
    machine = Machine()
    machine.run(3)
    machine.boot += seconds
    machine.run(2)
    assert machine.meter.look() == pytest.approx(seconds)
    assert machine.meter.look() == 0.0


def test_two_sleeps_between_two_looks_are_one() -> None:
    machine = Machine()
    for _ in range(2):
        machine.boot += 30
        machine.run(1)
    assert machine.meter.look() == pytest.approx(60)


def test_a_small_difference_is_the_time_between_two_readings() -> None:
    machine = Machine()
    machine.boot += 0.4
    assert machine.meter.look() == 0.0
    machine.boot -= 0.4
    assert machine.meter.look() == 0.0


def test_the_clocks_of_this_machine() -> None:
    assert boot_seconds() >= time.monotonic() - 0.1
    assert SleepMeter().look() == 0.0
