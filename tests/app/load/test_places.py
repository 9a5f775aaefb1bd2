"""Devices as choices, and back."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.load.places import PlaceKind, place_of, places, with_place
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions
from tests.app.load.strategies import load_options

CPU = DeviceInfo(
    id="CPU", backend="CPU", name="CPU", pci=None, kind=DeviceKind.CPU, memory_total=1, memory_free=1, usable=True
)
CARD = msgspec.structs.replace(CPU, id="Vulkan0", backend="Vulkan", pci="0000:03:00.0", kind=DeviceKind.GPU)
ROCM = msgspec.structs.replace(CARD, id="ROCm0", backend="ROCm")
APU = msgspec.structs.replace(CARD, id="Vulkan1", pci="0000:0a:00.0", kind=DeviceKind.IGPU)
SOFTWARE = msgspec.structs.replace(CARD, id="Vulkan2", pci=None, kind=DeviceKind.SOFTWARE)
UNUSABLE = msgspec.structs.replace(CARD, id="Vulkan3", pci="0000:44:00.0", usable=False)
ALL = (APU, CARD, ROCM, CPU, UNUSABLE)


@settings(deadline=None)
@given(options=load_options(), devices=st.lists(st.sampled_from([CPU, CARD, ROCM, APU, SOFTWARE]), unique=True))
def test_the_present_choice_is_always_among_them(options: LoadOptions, devices: list[DeviceInfo]) -> None:
    choices = places(options, devices)
    at = place_of(options, choices)
    assert at is not None
    chosen = with_place(options, choices[at], devices)
    assert place_of(chosen, choices) == at
    assert len({(place.kind, place.name) for place in choices}) == len(choices)


def test_each_choice_is_what_it_says() -> None:
    choices = places(LoadOptions(), ALL)
    kinds = [place.kind for place in choices]
    device = PlaceKind.DEVICE
    assert kinds == [PlaceKind.AUTO, device, device, device, PlaceKind.SEVERAL, PlaceKind.CPU]
    names = [with_place(LoadOptions(device="x"), place, ALL) for place in choices]
    assert [o.device for o in names] == [None, "0000:0a:00.0", "0000:03:00.0", "0000:03:00.0/ROCm", "x", "cpu"]
    assert names[4].devices == ("0000:03:00.0", "0000:0a:00.0")


def test_old_ways_to_name_a_device_are_understood() -> None:
    for name in ("Vulkan0", "vulkan0", "0000:03:00.0"):
        options = LoadOptions(device=name)
        choices = places(options, ALL)
        at = place_of(options, choices)
        assert at is not None
        assert choices[at].name == "0000:03:00.0"
    single = LoadOptions(devices=("0000:0a:00.0",))
    choices = places(single, ALL)
    assert choices[place_of(single, choices) or 0].device is APU


def test_one_card_is_not_offered_to_share() -> None:
    assert PlaceKind.SEVERAL not in [place.kind for place in places(LoadOptions(), (CARD, ROCM, CPU))]
    shared = LoadOptions(devices=("0000:03:00.0", "0000:0a:00.0"))
    assert PlaceKind.SEVERAL in [place.kind for place in places(shared, (CARD, CPU))]
