"""Which place lies nearest in a direction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect

from ui.shell.nearest import Way, nearest

PLACES = {
    "up": QRect(100, 0, 80, 40),
    "left": QRect(0, 100, 80, 40),
    "right": QRect(200, 100, 80, 40),
    "down": QRect(100, 200, 80, 40),
    "far down": QRect(100, 400, 80, 40),
    "down aside": QRect(400, 150, 80, 40),
}
START = QRect(100, 100, 80, 40)


@pytest.mark.parametrize(("way", "expected"), [(way, way.name.lower()) for way in Way])
def test_what_lies_straight_ahead_wins(way: Way, expected: str) -> None:
    found = nearest(START, PLACES.values(), way)
    assert found is not None
    assert list(PLACES)[found] == expected


def test_what_lies_aside_is_better_than_nothing() -> None:
    assert nearest(START, [QRect(400, 150, 80, 40)], Way.DOWN) == 0
    assert nearest(START, [QRect(400, 150, 80, 40)], Way.UP) is None
    assert nearest(START, [], Way.UP) is None


def test_rows_that_touch_or_overlap_a_little_are_ahead() -> None:
    assert nearest(START, [QRect(100, 137, 80, 40)], Way.DOWN) == 0
    assert nearest(START, [START], Way.DOWN) is None


rects = st.builds(QRect, st.integers(0, 900), st.integers(0, 700), st.integers(5, 300), st.integers(5, 90))


@given(rects, st.lists(rects, max_size=12), st.sampled_from(list(Way)))
def test_it_never_goes_the_other_way(start: QRect, places: list[QRect], way: Way) -> None:
    found = nearest(start, places, way)
    if found is not None:
        across, along = way.value
        step = places[found].center() - start.center()
        assert step.x() * across + step.y() * along > 0
