"""Events of pads as presses, and which devices are pads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.tree import Tree
from engine.pad.events import ABS_HAT0Y, ABS_X, ABS_Y, BUTTONS, EV_ABS, EV_KEY, EV_SYN, FORMAT, SYN_DROPPED, Presses
from engine.pad.finding import find_pads, has_bit
from tests.fakes.pad import PAD_KEYS, add_pad

NAMES = set(BUTTONS.values())


def event(kind: int, code: int, value: int) -> bytes:
    return FORMAT.pack(0, 0, kind, code, value)


def presses(*events: bytes, ranges: dict[int, tuple[int, int]] | None = None) -> list[str]:
    return list(Presses(ranges).feed(b"".join(events)))


@pytest.mark.parametrize(("code", "name"), BUTTONS.items())
def test_a_button_is_one_press(code: int, name: str) -> None:
    assert presses(event(EV_KEY, code, 1), event(EV_KEY, code, 0)) == [name]


def test_repeats_of_the_kernel_and_unknown_buttons_are_nothing() -> None:
    assert presses(event(EV_KEY, 0x130, 1), event(EV_KEY, 0x130, 2), event(EV_KEY, 0x2FF, 1)) == ["a"]
    assert presses(event(0, 0, 0), event(4, 4, 589825)) == []


def test_lost_events_end_what_is_held() -> None:
    """The release may be among them."""
    pad = Presses()
    assert list(pad.feed(event(EV_ABS, ABS_HAT0Y, -1))) == ["up"]
    assert pad.held == "up"
    assert list(pad.feed(event(EV_SYN, SYN_DROPPED, 0))) == []
    assert pad.held == ""
    assert list(pad.feed(event(EV_ABS, ABS_HAT0Y, -1))) == ["up"]


def test_the_cross_of_old_pads_is_an_axis() -> None:
    assert presses(event(EV_ABS, ABS_HAT0Y, -1), event(EV_ABS, ABS_HAT0Y, 0), event(EV_ABS, ABS_HAT0Y, 1)) == [
        "up",
        "down",
    ]


def test_a_stick_is_pushed_once_and_does_not_tremble() -> None:
    pushed = [20_000, 15_000, 20_000, 14_000, 32_767, 3_000, 25_000]
    assert presses(*(event(EV_ABS, ABS_X, value) for value in pushed)) == ["right", "right"]
    assert presses(event(EV_ABS, ABS_X, -30_000), event(EV_ABS, ABS_X, 30_000)) == ["left", "right"]


def test_a_stick_tells_its_range() -> None:
    assert presses(event(EV_ABS, ABS_Y, 255), event(EV_ABS, ABS_Y, 128), ranges={ABS_Y: (0, 255)}) == ["down"]
    assert presses(event(EV_ABS, ABS_Y, 255)) == []


def test_what_is_held_is_known_until_it_is_let_go() -> None:
    pad = Presses()
    assert list(pad.feed(event(EV_KEY, 0x221, 1))) == ["down"]
    assert pad.held == "down"
    assert list(pad.feed(event(EV_KEY, 0x130, 1))) == ["a"]
    assert pad.held == "down"
    assert list(pad.feed(event(EV_KEY, 0x221, 0))) == []
    assert pad.held == ""


def test_parts_of_an_event_wait() -> None:
    pad, data = Presses(), event(EV_KEY, 0x131, 1)
    assert list(pad.feed(data[:10])) == []
    assert list(pad.feed(data[10:])) == ["b"]


@given(st.binary(max_size=400), st.integers(1, 60))
def test_any_bytes_are_read(data: bytes, step: int) -> None:
    pad = Presses({ABS_X: (0, 0)})
    found = [name for start in range(0, len(data), step) for name in pad.feed(data[start : start + step])]
    assert set(found) <= NAMES
    assert pad.held in NAMES | {""}


@given(st.text(max_size=60), st.integers(0, 800))
def test_any_bitmap_is_read(words: str, bit: int) -> None:
    assert has_bit(words, bit) in (True, False)


def test_bits_are_counted_from_the_end() -> None:
    assert has_bit("1 0", 64)
    assert has_bit(PAD_KEYS, 0x130)
    assert not has_bit("10000 0 0 0", 0x130)


def test_keyboards_are_no_pads(tmp_path: Path) -> None:
    assert find_pads(Tree(tmp_path)) == ()
    add_pad(tmp_path, 3, keys="402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe")
    assert find_pads(Tree(tmp_path)) == ()
    add_pad(tmp_path, 12, vendor="045e", product="028e")
    assert [pad.event for pad in find_pads(Tree(tmp_path))] == ["event12"]


def test_beside_steams_pad_no_other_is_read(tmp_path: Path) -> None:
    add_pad(tmp_path, 4, vendor="045e", product="028e")
    add_pad(tmp_path, 9)
    assert [(pad.event, pad.of_steam) for pad in find_pads(Tree(tmp_path))] == [("event9", True)]
