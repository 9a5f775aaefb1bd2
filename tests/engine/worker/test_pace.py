"""Sizes of prompt slices: none takes so long that a cancel is heard too late."""

from __future__ import annotations

import pytest

from engine.worker.pace import FIRST_SLICE, SLICE_SECONDS, Pace


def slices(pace: Pace, tokens_per_second: float, prompt: int) -> list[int]:
    """Sizes for a prompt on a device with this speed."""
    sizes = []
    while prompt > 0:
        size = min(pace.tokens, prompt)
        pace.took(size, size / tokens_per_second)
        sizes.append(size)
        prompt -= size
    return sizes


def test_the_cpu_takes_whole_batches() -> None:
    assert slices(Pace(512, polled=True), 1.0, 1200) == [512, 512, 176]


def test_a_fast_gpu_is_known_after_one_small_slice() -> None:
    pace = Pace(512, polled=False)
    assert slices(pace, 5000.0, 1100) == [FIRST_SLICE, 512, 512, 44]
    assert pace.tokens == 512


@pytest.mark.parametrize("speed", [3.0, 40.0, 100.0, 400.0])
def test_on_a_slow_gpu_no_slice_after_the_first_takes_long(speed: float) -> None:
    sizes = slices(Pace(512, polled=False), speed, 2000)
    assert all(size / speed <= SLICE_SECONDS * 1.05 or size == 1 for size in sizes[1:])
    assert sum(sizes) == 2000


def test_slices_are_whole_tiles_where_there_is_time_for_one() -> None:
    pace = Pace(512, polled=False)
    slices(pace, 200.0, 1000)
    assert pace.tokens == 96


def test_a_slow_first_slice_is_no_verdict() -> None:
    """The first one builds the kernels."""
    pace = Pace(512, polled=False)
    pace.took(FIRST_SLICE, 8.0)
    slow = pace.tokens
    assert slow < FIRST_SLICE
    assert slices(pace, 2000.0, 3 * 512)[-2] == 512


def test_the_rest_of_a_prompt_says_nothing() -> None:
    pace = Pace(512, polled=False)
    slices(pace, 5000.0, 600)
    pace.took(3, 0.05)
    assert pace.tokens == 512


def test_a_small_batch_is_the_limit() -> None:
    assert slices(Pace(16, polled=False), 5000.0, 40) == [16, 16, 8]
