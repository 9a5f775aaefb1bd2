"""Which Vulkan devices ggml is told to show."""

from __future__ import annotations

import struct

import pytest

from engine.backends.vulkan_probe import (
    PhysicalDevice,
    PhysicalType,
    parse_properties,
    physical_devices,
    visible_devices,
)

CARD = PhysicalDevice(0, "AMD Radeon RX 7900 XTX (RADV NAVI31)", PhysicalType.DISCRETE)
APU = PhysicalDevice(2, "AMD Radeon Graphics (RADV RAPHAEL)", PhysicalType.INTEGRATED)
SOFTWARE = PhysicalDevice(1, "llvmpipe", PhysicalType.CPU)


@pytest.mark.parametrize("devices", [[], [CARD], [CARD, APU], [CARD, SOFTWARE], [SOFTWARE]])
def test_ggml_selects_itself_unless_software_is_allowed(devices: list[PhysicalDevice]) -> None:
    assert visible_devices(devices, allow_software=False) is None


@pytest.mark.parametrize(
    ("devices", "value"),
    [([SOFTWARE], "1"), ([CARD, SOFTWARE, APU], "0,2,1"), ([CARD, APU], None), ([], None)],
)
def test_allowed_software_comes_after_the_real_ones(devices: list[PhysicalDevice], value: str | None) -> None:
    assert visible_devices(devices, allow_software=True) == value


def properties(kind: int, name: bytes) -> bytes:
    return struct.pack("<5I256s", 1, 2, 0x1002, 0x744C, kind, name) + bytes(548)


def test_properties() -> None:
    assert parse_properties(3, properties(4, b"llvmpipe")) == PhysicalDevice(3, "llvmpipe", PhysicalType.CPU)
    assert parse_properties(0, properties(77, b"\xffnew")).type is PhysicalType.OTHER


def test_no_vulkan_loader() -> None:
    assert physical_devices("libvulkan-that-is-not-there.so.1") == []
