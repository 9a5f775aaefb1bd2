"""Which devices are chosen: cards that are there, cards that are gone, order and shares."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.device_choice import (
    Mode,
    cards_of,
    mode_of,
    moved,
    percents,
    picks,
    with_backend,
    with_card,
    with_mode,
    with_own_shares,
    with_share,
)
from app.settings.records import EngineSettings
from engine.loading.check import check_options
from engine.protocol.types import DeviceInfo, DeviceKind

DISCRETE, SECOND, APU = "0000:03:00.0", "0000:0a:00.0", "0000:04:00.0"


def device(id_: str, backend: str, pci: str | None, kind: DeviceKind = DeviceKind.GPU, usable: bool = True):
    return DeviceInfo(
        id=id_, backend=backend, name=id_, pci=pci, kind=kind, memory_total=8, memory_free=8, usable=usable
    )


DEVICES = (
    device("Vulkan0", "Vulkan", APU, DeviceKind.IGPU),
    device("Vulkan1", "Vulkan", DISCRETE),
    device("ROCm0", "ROCm", DISCRETE),
    device("Vulkan2", "Vulkan", SECOND),
    device("Software0", "Vulkan", None, DeviceKind.SOFTWARE, usable=False),
    device("CPU", "CPU", None, DeviceKind.CPU),
)


def keys(settings: EngineSettings) -> list[str]:
    return [card.key for card in cards_of(DEVICES, settings)]


def test_a_card_that_two_backends_see_is_there_once() -> None:
    cards = {card.key: card for card in cards_of(DEVICES, EngineSettings())}
    assert list(cards) == [APU, DISCRETE, SECOND, "Software0"]
    assert [d.backend for d in cards[DISCRETE].devices] == ["Vulkan", "ROCm"]
    assert cards[DISCRETE].shown is DEVICES[1]
    assert all(card.place is None for card in cards.values())


def test_chosen_cards_come_first_in_their_order_with_shares() -> None:
    settings = EngineSettings(devices=(SECOND, DISCRETE), shares=(1.0, 3.0))
    cards = cards_of(DEVICES, settings)
    assert [(c.key, c.place, c.share) for c in cards[:2]] == [(SECOND, 0, 25), (DISCRETE, 1, 75)]
    assert [c.key for c in cards[2:]] == [APU, "Software0"]


def test_a_card_that_is_gone_is_kept() -> None:
    settings = EngineSettings(devices=("0000:99:00.0", DISCRETE))
    gone = cards_of(DEVICES, settings)[0]
    assert (gone.present, gone.shown, gone.place) == (False, None, 0)
    assert picks(moved(settings, 0, 1)) == (DISCRETE, "0000:99:00.0")
    assert picks(with_card(settings, gone, False)) == (DISCRETE,)


def test_the_backend_of_a_card_is_part_of_its_name() -> None:
    settings = with_backend(EngineSettings(devices=(DISCRETE, SECOND)), 0, "ROCm")
    assert settings.devices == (f"{DISCRETE}/ROCm", SECOND)
    card = cards_of(DEVICES, settings)[0]
    assert (card.key, card.backend, card.shown) == (DISCRETE, "ROCm", DEVICES[2])
    assert with_backend(settings, 0, "").devices == (DISCRETE, SECOND)


@pytest.mark.parametrize(
    ("settings", "mode", "chosen"),
    [
        (EngineSettings(), Mode.AUTO, ()),
        (EngineSettings(device="CPU"), Mode.CPU, ()),
        (EngineSettings(device=SECOND), Mode.PICKED, (SECOND,)),
        (EngineSettings(device="cpu", devices=(SECOND,)), Mode.PICKED, (SECOND,)),
    ],
)
def test_who_chooses(settings, mode, chosen) -> None:
    assert mode_of(settings) is mode
    assert picks(settings) == chosen


def test_picking_begins_with_a_discrete_card_and_keeps_what_was_picked() -> None:
    cards = cards_of(DEVICES, EngineSettings())
    picked = with_mode(EngineSettings(), Mode.PICKED, cards)
    assert picked.devices == (DISCRETE,)
    assert with_mode(picked, Mode.PICKED, cards) is picked
    assert with_mode(picked, Mode.CPU, cards) == EngineSettings(device="cpu")
    assert with_mode(picked, Mode.AUTO, cards) == EngineSettings()
    assert with_mode(EngineSettings(), Mode.PICKED, ()) == EngineSettings()


def test_a_card_is_added_at_the_end_and_shares_start_anew() -> None:
    settings = EngineSettings(devices=(SECOND,), shares=(1.0,))
    card = next(c for c in cards_of(DEVICES, settings) if c.key == DISCRETE)
    added = with_card(settings, card, True)
    assert (added.devices, added.shares) == ((SECOND, DISCRETE), ())
    assert with_card(added, cards_of(DEVICES, added)[1], True) is added


def test_order_takes_the_shares_along() -> None:
    settings = EngineSettings(devices=(SECOND, DISCRETE), shares=(1.0, 3.0))
    turned = moved(settings, 1, -1)
    assert (turned.devices, turned.shares) == ((DISCRETE, SECOND), (3.0, 1.0))
    assert moved(settings, 0, -1) is settings
    assert moved(settings, 1, 1) is settings


def test_a_single_device_of_an_older_file_becomes_a_list() -> None:
    settings = EngineSettings(device=SECOND)
    card = next(c for c in cards_of(DEVICES, settings) if c.key == DISCRETE)
    assert with_card(settings, card, True) == EngineSettings(devices=(SECOND, DISCRETE))


def test_a_share_changes_the_others_in_proportion() -> None:
    settings = with_own_shares(EngineSettings(devices=("a", "b", "c")), True)
    assert percents(settings.shares) == (34, 33, 33)
    settings = with_share(settings, 0, 50)
    assert percents(settings.shares) == (50, 25, 25)
    assert percents(with_share(settings, 0, 100).shares) == (100, 0, 0)
    back = with_share(with_share(settings, 0, 100), 0, 40)
    assert percents(back.shares) == (40, 30, 30)
    assert with_own_shares(settings, False).shares == ()


@given(st.lists(st.floats(0, 1e6), max_size=16))
def test_percents_add_up(shares: list[float]) -> None:
    result = percents(shares)
    assert not result if sum(shares) <= 0 else (sum(result) == 100 and min(result) >= 0)


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "drop", "move", "share", "own", "backend", "mode"]), st.integers(0, 5))
)


def clicked(settings: EngineSettings, what: str, number: int) -> EngineSettings:
    cards = cards_of(DEVICES, settings)
    card = cards[number % len(cards)]
    place = card.place if card.place is not None else number
    clicks: dict[str, Callable[[], EngineSettings]] = {
        "add": lambda: with_card(settings, card, True),
        "drop": lambda: with_card(settings, card, False),
        "move": lambda: moved(settings, place, number - 2),
        "share": lambda: with_share(settings, place, number * 25),
        "own": lambda: with_own_shares(settings, bool(number % 2)),
        "backend": lambda: with_backend(settings, place, ("", "ROCm")[number % 2]),
        "mode": lambda: with_mode(settings, tuple(Mode)[number % 3], cards),
    }
    return clicks[what]()


@given(STEPS)
def test_whatever_is_clicked_the_engine_takes_it(steps: list[tuple[str, int]]) -> None:
    settings = EngineSettings()
    for what, number in steps:
        settings = clicked(settings, what, number)
        check_options(settings.load_options())
        assert len(set(keys(settings))) == len(keys(settings))
