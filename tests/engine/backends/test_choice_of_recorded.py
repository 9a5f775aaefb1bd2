"""Which device is chosen out of whole hellos: machines with the same card through two backends, and with none.

The hellos in ``hellos/`` have the form of recorded ones; names follow public reports of such machines.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest

from engine.backends.choice import best_gpu, choose, one_for_each_card
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceInfo, DeviceKind

HELLOS = Path(__file__).parent / "hellos"
MACHINES = sorted(path.stem for path in HELLOS.glob("*.json"))
XTX, XT = "0000:03:00.0", "0000:0a:00.0"


def hello(name: str) -> Hello:
    return msgspec.json.decode((HELLOS / f"{name}.json").read_bytes(), type=Hello)


def without(said: Hello, *pci: str) -> list[DeviceInfo]:
    return [device for device in said.devices if device.pci not in pci]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("desktop_7900xtx_and_igpu", "Vulkan0"),
        ("two_cards", "Vulkan1"),
        ("strix_halo", "Vulkan0"),
        ("laptop_without_mesa", "ROCm0"),
        ("no_gpu", "CPU"),
    ],
)
def test_by_itself(name: str, chosen: str) -> None:
    said = hello(name)
    for order in itertools.islice(itertools.permutations(said.devices), 60):
        choice = choose(order, said.backends, None, -1)
        assert (choice.device.id, choice.warnings) == (chosen, ())


@pytest.mark.parametrize("name", MACHINES)
def test_each_card_once_and_software_never(name: str) -> None:
    said = hello(name)
    cards = [device.pci for device in one_for_each_card(said.devices) if device.pci]
    assert sorted(cards) == sorted({device.pci for device in said.devices if device.pci})
    best = best_gpu(said.devices)
    assert best is None or (best.usable and best.kind in (DeviceKind.GPU, DeviceKind.IGPU))


def test_the_card_whose_vulkan_cannot_be_used_goes_through_rocm() -> None:
    said = hello("desktop_7900xtx_and_igpu")
    devices = [
        msgspec.structs.replace(device, usable=False, reason="It is switched off.")
        if device.id == "Vulkan0"
        else device
        for device in said.devices
    ]
    assert choose(devices, said.backends, None, -1).device.id == "ROCm0"
    assert choose(devices, said.backends, XTX, -1).device.id == "ROCm0"


def test_a_stored_address_finds_the_card_whatever_its_number() -> None:
    said = hello("two_cards")
    assert choose(said.devices, said.backends, XTX, -1).device.id == "Vulkan1"
    assert choose(said.devices, said.backends, XT, -1).device.id == "Vulkan0"
    hip_only = [device for device in said.devices if device.backend != "Vulkan"]
    assert choose(hip_only, said.backends, XT, -1).device.id == "ROCm1"


def test_a_card_that_is_gone_falls_back_to_the_other_with_a_sentence() -> None:
    said = hello("two_cards")
    choice = choose(without(said, XTX), said.backends, XTX, -1)
    assert choice.device.id == "Vulkan0"
    assert choice.warnings == (f"The device {XTX} was not found; AMD Radeon RX 6800 XT (RADV NAVI21) is used instead.",)


def test_with_no_card_left_it_is_the_processor_with_a_sentence() -> None:
    said = hello("strix_halo")
    choice = choose(without(said, "0000:c5:00.0"), said.backends, "0000:c5:00.0", -1)
    assert choice.device.kind is DeviceKind.CPU
    assert choice.reason == "Runs on the CPU: no Vulkan driver was found."
    assert choice.warnings == (
        "The device 0000:c5:00.0 was not found; AMD RYZEN AI MAX+ 395 w/ Radeon 8060S is used instead.",
    )


def test_a_card_that_the_plugin_has_no_code_for_is_refused_with_the_reason() -> None:
    said = hello("desktop_7900xtx_and_igpu")
    choice = choose(said.devices, said.backends, "ROCm1", -1)
    assert choice.device.id == "Vulkan0"
    assert "has code for gfx1100; this card is gfx1036" in choice.warnings[0]
