"""Labels and bars in one line, at any width."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory.records import MemorySnapshot
from engine.protocol.types import DeviceKind, ModelInfo
from tests.ui.memory.conftest import CARD, desktop, model_on
from ui.memory.content import view
from ui.memory.layout import Form, Item, Placed, arrange
from ui.memory.paint import spans
from ui.memory.shares import Bar, BarKind, Owner, Region, Segment

BAR = Bar(BarKind.VRAM, 10, (Segment(Region.VRAM, Owner.FREE, 10),))


def measure(text: str) -> float:
    return 8.0 * len(text)


def placed(items: tuple[Item, ...], width: float) -> tuple[Placed, ...]:
    return arrange(items, width, measure, gap=12, key_width=17)


LINE = (
    Item(forms=(Form("VRAM 1.0 / 2.0 GiB", "VRAM 2.0 / 2.0 GiB"), Form("VRAM 1.0"), ), ranks=(45,)),
    Item(bar=BAR, least=100, weight=3, ranks=(90,)),
    Item(forms=(Form("56 °C"), Form()), ranks=(40,), far=True),
)  # fmt: skip


@pytest.mark.parametrize(
    ("width", "texts"),
    [
        (600, ["VRAM 1.0 / 2.0 GiB", "", "56 °C"]),
        (308, ["VRAM 1.0 / 2.0 GiB", "", "56 °C"]),
        (307, ["VRAM 1.0 / 2.0 GiB", ""]),
        (255, ["VRAM 1.0", ""]),
        (170, ["VRAM 1.0"]),
        (10, ["VRAM 1.0"]),
    ],
)
def test_the_least_important_goes_first(width: float, texts: list[str]) -> None:
    assert [item.text for item in placed(LINE, width)] == texts


def test_the_bar_takes_what_is_left() -> None:
    text, bar, far = placed(LINE, 600)
    assert (text.x, bar.x) == (0, text.width + 12)
    assert far.x + far.width == 600
    assert bar.width == 600 - text.width - far.width - 24


def test_a_text_reserves_the_room_of_its_widest_form() -> None:
    def width(text: str) -> float:
        item = Item(forms=(Form(text, "100 W"),))
        return placed((item, LINE[1]), 400)[0].width

    assert width("9 W") == width("100 W") == 40


def test_without_a_bar_the_far_items_are_at_the_right_end() -> None:
    near, far = placed((Item(forms=(Form("near"),)), Item(forms=(Form("far"),), far=True)), 300)
    assert near.x == 0
    assert far.x + far.width == 300


def contents(recorded: dict[str, MemorySnapshot]) -> list[tuple[MemorySnapshot, ModelInfo | None]]:
    found: list[tuple[MemorySnapshot, ModelInfo | None]] = [(desktop(), model_on(CARD))]
    for snapshot in recorded.values():
        found.append((snapshot, None))
        found += [(snapshot, model_on(gpu.pci, gpu.kind or DeviceKind.GPU)) for gpu in snapshot.gpus]
        found.append((snapshot, model_on(None, DeviceKind.CPU)))
    return found


@pytest.mark.parametrize("scale", [1.0, 1.4, 2.0])
def test_nothing_overlaps_or_is_cut_at_any_width(recorded: dict[str, MemorySnapshot], scale: float) -> None:
    def wide(text: str) -> float:
        return 7.6 * scale * len(text)

    for snapshot, model in contents(recorded):
        items = view(snapshot, model, 41.2, scale).items
        for width in range(int(430 * scale), 2000, 37):
            line = arrange(items, width, wide, gap=12 * scale, key_width=17 * scale)
            edge = 0.0
            for item in line:
                assert item.x >= edge - 0.01
                edge = item.x + item.width
                assert item.bar is not None or wide(item.text) <= item.width
            assert edge <= width + 0.01, (width, [item.text for item in line])


def test_more_room_never_shows_less(recorded: dict[str, MemorySnapshot]) -> None:
    for snapshot, model in contents(recorded):
        items = view(snapshot, model, 41.2).items
        shown = [len(arrange(items, width, measure, gap=12, key_width=17)) for width in range(300, 2000, 10)]
        assert shown == sorted(shown)


@settings(deadline=None)
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=9), st.floats(1, 3000))
def test_spans_fill_the_bar_and_every_part_can_be_seen(sizes: list[int], width: float) -> None:
    bar = Bar(BarKind.RAM, sum(sizes), tuple(Segment(Region.RAM, Owner.OTHER, size) for size in sizes))
    parts = spans(bar, width)
    assert len(parts) == len(sizes)
    edge = 0.0
    for _, x, own in parts:
        assert x == pytest.approx(edge)
        assert own >= 2.0
        edge = x + own
    if width >= 2 * len(sizes) * 10:
        assert edge == pytest.approx(width)


@pytest.mark.parametrize("bar", [Bar(BarKind.RAM, 0, ()), Bar(BarKind.RAM, 10, ())])
def test_a_bar_without_figures_has_no_parts(bar: Bar) -> None:
    assert spans(bar, 100) == []
