"""Profiles: what changes for which device, and nothing else."""

from __future__ import annotations

import msgspec
import pytest

from engine.loading.profile import GIB, device_to_expect, profile_for, room_on
from engine.protocol.types import DeviceInfo, DeviceKind, KvType, LoadOptions

Q8 = {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}


def device(identity: str, kind: DeviceKind, free: float | None, *, pci: str | None = None, usable: bool = True):
    return DeviceInfo(
        id=identity,
        backend="Vulkan",
        name=identity,
        pci=pci,
        kind=kind,
        memory_total=None,
        memory_free=None if free is None else int(free * GIB),
        usable=usable,
    )


@pytest.mark.parametrize(
    ("kind", "room", "weights", "changed"),
    [
        (DeviceKind.CPU, 1, 1, {}),
        (DeviceKind.SOFTWARE, 1, 1, {}),
        (DeviceKind.GPU, 24, 5, {}),
        (DeviceKind.GPU, 8, 7, Q8),
        (DeviceKind.GPU, 4, None, Q8),
        (DeviceKind.GPU, None, 5, {}),
        (DeviceKind.IGPU, 9, 4.1, {"n_ubatch": 128, "mmap": False}),
        (DeviceKind.IGPU, 9, 7.5, {"n_ubatch": 128, "mmap": False, **Q8}),
        (DeviceKind.IGPU, 9, 20, {"n_ubatch": 128, "mmap": False, **Q8}),
        (DeviceKind.IGPU, None, None, {"n_ubatch": 128, "mmap": False}),
    ],
)
def test_what_a_profile_changes(kind, room, weights, changed) -> None:
    free, file = (None if size is None else int(size * GIB) for size in (room, weights))
    assert profile_for(kind, free, file) == msgspec.structs.replace(LoadOptions(), **changed)


def test_a_smaller_micro_batch_stays() -> None:
    base = LoadOptions(n_ubatch=64, n_ctx=777)
    assert profile_for(DeviceKind.IGPU, None, base=base) == LoadOptions(n_ubatch=64, n_ctx=777, mmap=False)


CPU = device("CPU", DeviceKind.CPU, 10)
IGPU = device("Vulkan0", DeviceKind.IGPU, 12, pci="0000:04:00.0")
SMALL_GPU = device("Vulkan1", DeviceKind.GPU, 8, pci="0000:03:00.0")
LARGE_GPU = device("Vulkan2", DeviceKind.GPU, 20, pci="0000:0a:00.0")
SOFTWARE = device("Software0", DeviceKind.SOFTWARE, 9, usable=False)
ALL = [IGPU, SMALL_GPU, LARGE_GPU, SOFTWARE, CPU]


@pytest.mark.parametrize(
    ("devices", "wanted", "layers", "expected"),
    [
        (ALL, None, -1, LARGE_GPU),
        (ALL, None, 0, CPU),
        (ALL, "cpu", -1, CPU),
        (ALL, "0000:04:00.0", -1, IGPU),
        (ALL, "VULKAN1", -1, SMALL_GPU),
        (ALL, "Software0", -1, LARGE_GPU),
        (ALL, "gone", -1, LARGE_GPU),
        ([IGPU, CPU], None, -1, IGPU),
        ([SOFTWARE, CPU], None, -1, CPU),
        ([], None, -1, None),
    ],
)
def test_the_device_to_expect(devices, wanted, layers, expected) -> None:
    assert device_to_expect(devices, wanted, layers) == expected


def test_room() -> None:
    assert room_on(LARGE_GPU, ALL) == 20 * GIB
    assert room_on(IGPU, ALL) == 8.5 * GIB, "RAM that is available, less what the desktop needs"
    assert room_on(device("i", DeviceKind.IGPU, 5), ALL) == 5 * GIB
    assert room_on(device("i", DeviceKind.IGPU, None), ALL) == 8.5 * GIB
    assert room_on(device("i", DeviceKind.IGPU, None), []) is None
    assert room_on(IGPU, [device("CPU", DeviceKind.CPU, 1)]) == 0
