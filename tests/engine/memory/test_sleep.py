"""Case 82: a sleeping card stays asleep, and an idle one may fall asleep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory.sampler import MemorySampler
from tests.engine.memory.conftest import WORKER, Recorder

Machine = Callable[[str], Path]
CARD = "0000:03:00.0"
HARMLESS = {
    "vendor", "device", "revision", "uevent", "runtime_status",
    "mem_info_vram_total", "mem_info_vram_used", "mem_info_gtt_total", "mem_info_gtt_used",
    "mem_info_vis_vram_total", "mem_info_vis_vram_used",
}  # fmt: skip
"""Static ids, the status itself, and counters that the driver keeps in software."""

SENSORS = {"gpu_busy_percent", "power1_average", "temp1_input"}


class Laptop:
    """The recorded laptop under a clock that is moved by hand."""

    def __init__(self, root: Path) -> None:
        self.now = 0.0
        self.reader = Recorder(root)
        self.card = root / "sys/class/drm/card2/device"
        self.sampler = MemorySampler(root, clock=lambda: self.now, read=self.reader)

    def opened(self, seconds: int, worker: int | None = None) -> list[str]:
        """Files of the card that were opened in so many samples, one a second."""
        start = len(self.reader.opened)
        for _ in range(seconds):
            self.sampler.sample(worker)
            self.now += 1.0
        return [path.rpartition("/")[2] for path in self.reader.opened[start:] if f"/{CARD}/" in path]

    def write(self, name: str, text: str) -> None:
        (self.card / name).write_text(text + "\n")


@pytest.fixture
def laptop(machine: Machine) -> Laptop:
    return Laptop(machine("laptop_sleeping_dgpu"))


@pytest.mark.parametrize("status", ["suspended", "suspending", "resuming", "error", "nonsense", ""])
def test_no_file_that_wakes_is_opened(laptop: Laptop, status: str) -> None:
    laptop.write("power/runtime_status", status)
    opened = laptop.opened(30, WORKER)
    assert set(opened) <= HARMLESS
    assert opened.count("runtime_status") == 30
    assert [opened.count(name) for name in ("vendor", "device", "revision")] == [1, 1, 1]


def test_not_even_while_the_cards_are_listed(laptop: Laptop) -> None:
    assert set(laptop.opened(1)) <= HARMLESS


def test_an_unreadable_status_is_no_leave_to_wake_it(laptop: Laptop) -> None:
    laptop.reader.errors = {"power/runtime_status": 5}
    assert set(laptop.opened(3)) <= HARMLESS
    gpu = laptop.sampler.sample().gpu(CARD)
    assert gpu is not None
    assert gpu.asleep is None
    assert gpu.vram.used == 26214400


def test_values_come_as_soon_as_it_is_awake_and_go_when_it_sleeps(laptop: Laptop) -> None:
    laptop.opened(2)
    laptop.write("power/runtime_status", "active")
    awake = laptop.sampler.sample().gpu(CARD)
    assert awake is not None
    assert (awake.asleep, awake.busy_percent, awake.temperature_c, awake.power_w) == (False, 0, 53.0, 1.0)
    laptop.write("power/runtime_status", "suspended")
    asleep = laptop.sampler.sample().gpu(CARD)
    assert asleep is not None
    assert (asleep.asleep, asleep.busy_percent, asleep.temperature_c, asleep.power_w) == (True, None, None, None)


def test_without_power_management_a_card_is_awake(laptop: Laptop) -> None:
    for path in (laptop.card / "power").iterdir():
        path.unlink()
    (laptop.card / "power").rmdir()
    gpu = laptop.sampler.sample().gpu(CARD)
    assert gpu is not None
    assert (gpu.asleep, gpu.temperature_c) == (False, 53.0)


def test_an_idle_card_is_left_alone_long_enough_to_fall_asleep(laptop: Laptop) -> None:
    laptop.write("power/runtime_status", "active")
    opened = laptop.opened(60)
    assert opened.count("gpu_busy_percent") == 5
    kept = laptop.sampler.sample().gpu(CARD)
    assert kept is not None
    assert kept.temperature_c == 53.0


def test_the_pause_follows_the_cards_own_countdown(laptop: Laptop) -> None:
    laptop.write("power/runtime_status", "active")
    laptop.write("power/autosuspend_delay_ms", "14000")
    assert laptop.opened(60).count("temp1_input") == 2


@pytest.mark.parametrize(("file", "text"), [("gpu_busy_percent", "7"), ("power/control", "on")])
def test_a_card_that_works_or_never_sleeps_is_read_each_time(laptop: Laptop, file: str, text: str) -> None:
    laptop.write("power/runtime_status", "active")
    laptop.write(file, text)
    assert laptop.opened(20).count("gpu_busy_percent") == 20


def test_a_card_that_holds_our_model_is_read_each_time(laptop: Laptop) -> None:
    laptop.write("power/runtime_status", "active")
    assert laptop.opened(20, worker=1500).count("gpu_busy_percent") == 20


def test_all_sensors_of_the_waking_card_were_meant(laptop: Laptop) -> None:
    laptop.write("power/runtime_status", "active")
    assert set(laptop.opened(1)) >= SENSORS
