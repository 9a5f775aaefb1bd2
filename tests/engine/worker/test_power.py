"""The power of cards over a stretch of work, from recorded machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory.tree import Tree
from engine.worker.power import PowerMeter
from tests.fakes.sysroot import build_sysroot


class Clock:
    """Seconds that pass by ``step`` with each look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def power_file(root: Path) -> Path:
    found = sorted(root.glob("sys/**/hwmon/hwmon*/power1_average"))
    assert found
    return found[0]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    return build_sysroot("rx7900xtx", tmp_path)


def test_the_mean_of_what_was_read(machine: Path) -> None:
    meter = PowerMeter(["0000:03:00.0"], Tree(machine), Clock())
    meter.begin()
    for watts in (100, 300):
        power_file(machine).write_text(f"{watts}000000\n")
        meter.look()
    assert meter.end() == pytest.approx(200)
    meter.begin()
    power_file(machine).write_text("50000000\n")
    assert meter.end() == pytest.approx(50), "work that was over at once is looked at once"


def test_unknown_stays_unknown(machine: Path) -> None:
    power_file(machine).write_text("garbage\n")
    for pcis in (["0000:03:00.0"], ["0000:99:00.0"], ["0000:03:00.0", "0000:99:00.0"], []):
        meter = PowerMeter(pcis, Tree(machine), Clock())
        meter.begin()
        meter.look()
        assert meter.end() is None


def test_a_sensor_that_takes_long_is_asked_once(machine: Path) -> None:
    meter = PowerMeter(["0000:03:00.0"], Tree(machine), Clock(step=0.5))
    power_file(machine).write_text("100000000\n")
    meter.begin()
    meter.look()
    power_file(machine).write_text("900000000\n")
    meter.look()
    assert meter.end() == pytest.approx(100)
