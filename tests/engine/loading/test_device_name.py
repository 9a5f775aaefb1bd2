"""A card by its address, and the backend that it is used through: all who read the name agree."""

from __future__ import annotations

import msgspec
import pytest

from engine.backends.choice import choose
from engine.backends.placement import place
from engine.client.ladder import main_gpu
from engine.loading.device_name import split_name
from engine.loading.profile import device_to_expect
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions


def device(id_: str, backend: str, pci: str | None, kind: DeviceKind = DeviceKind.GPU) -> DeviceInfo:
    return DeviceInfo(id=id_, backend=backend, name=id_, pci=pci, kind=kind, memory_total=8, memory_free=8, usable=True)


CPU = device("CPU", "CPU", None, DeviceKind.CPU)
DEVICES = (
    device("Vulkan0", "Vulkan", "0000:03:00.0"),
    device("Vulkan1", "Vulkan", "0000:0a:00.0"),
    device("ROCm0", "ROCm", "0000:0a:00.0"),
    device("ROCm1", "ROCm", "0000:03:00.0"),
    CPU,
)


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ("0000:03:00.0", "Vulkan0"),
        ("0000:03:00.0/ROCm", "ROCm1"),
        ("0000:0A:00.0/rocm", "ROCm0"),
        ("0000:0a:00.0/Vulkan", "Vulkan1"),
        ("0000:0a:00.0/CUDA", "Vulkan1"),
        ("ROCm0", "ROCm0"),
        ("rocm1", "ROCm1"),
        ("0000:ff:00.0/ROCm", "Vulkan0"),
        ("/ROCm", "Vulkan0"),
        (None, "Vulkan0"),
        ("cpu", "CPU"),
    ],
)
def test_the_engine_safe_mode_and_profiles_take_the_same_device(wanted, taken) -> None:
    assert choose(DEVICES, (), wanted, -1).device.id == taken
    expected = device_to_expect(DEVICES, wanted)
    assert expected is not None
    assert expected.id == taken
    gpu = main_gpu(DEVICES, LoadOptions(device=wanted))
    assert (gpu.id if gpu else "CPU") == taken


def test_names_without_a_backend() -> None:
    assert split_name("0000:03:00.0") == ("0000:03:00.0", None)
    assert split_name("0000:03:00.0/") == ("0000:03:00.0", None)
    assert split_name("0000:03:00.0/ROCm") == ("0000:03:00.0", "ROCm")


def test_a_backend_that_does_not_offer_the_card_is_told() -> None:
    chosen = choose(DEVICES, (), "0000:0a:00.0/CUDA", -1)
    assert (chosen.device.id, chosen.warnings) == (
        "Vulkan1",
        ("Vulkan1 is used through Vulkan: CUDA does not offer it now.",),
    )
    assert choose(DEVICES, (), "0000:0a:00.0/ROCm", -1).warnings == ()


def test_a_backend_that_cannot_use_the_card_gives_way_to_one_that_can() -> None:
    unusable = msgspec.structs.replace(DEVICES[2], usable=False, reason="No code for it.")
    devices = (DEVICES[1], unusable, CPU)
    chosen = choose(devices, (), "0000:0a:00.0/ROCm", -1)
    assert chosen.device.id == "Vulkan1"
    assert chosen.warnings == ("Vulkan1 is used through Vulkan: ROCm does not offer it now.",)


def test_several_devices_tell_it_too() -> None:
    options = LoadOptions(devices=("0000:03:00.0/CUDA", "0000:0a:00.0/ROCm"))
    placed = place(DEVICES, (), options, lambda _devices: True)
    assert [device.id for device in placed.devices] == ["Vulkan0", "ROCm0"]
    assert placed.warnings == ("Vulkan0 is used through Vulkan: CUDA does not offer it now.",)
