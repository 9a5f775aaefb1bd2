"""A card by its address, and the backend that it is used through: all who read the name agree."""

from __future__ import annotations

import pytest

from engine.backends.choice import choose
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
