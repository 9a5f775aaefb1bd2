"""ggml's devices as records: addresses, memory that may be garbage, software drivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.backends.devices import (
    SOFTWARE_REFUSED,
    available_ram,
    describe,
    known_bytes,
    list_devices,
)
from engine.backends.ggml import DeviceType, RawDevice
from engine.backends.vulkan_probe import PhysicalDevice, PhysicalType
from engine.protocol.types import DeviceKind

GIB = 1 << 30
LLVMPIPE = PhysicalDevice(0, "llvmpipe (LLVM 15.0.6, 256 bits)", PhysicalType.CPU)


def raw(**fields: Any) -> RawDevice:
    values: dict[str, Any] = {
        "handle": 7,
        "backend": "Vulkan",
        "name": "Vulkan0",
        "description": "AMD Radeon RX 7900 XTX (RADV NAVI31)",
        "type": DeviceType.GPU,
        "device_id": "0000:03:00.0",
        "memory_free": 20 * GIB,
        "memory_total": 24 * GIB,
    }
    return RawDevice(**{**values, **fields})


@pytest.mark.parametrize(
    ("device_id", "address"),
    [
        ("0000:03:00.0", "0000:03:00.0"),
        ("0000:C4:00.0", "0000:c4:00.0"),
        ("10000:e1:00.0", "10000:e1:00.0"),
        ("", None),
        ("03:00.0", None),
        ("GPU-6e3b1c2a", None),
        ("0000:03:00.9", None),
    ],
)
def test_pci_addresses(device_id: str, address: str | None) -> None:
    assert describe(raw(device_id=device_id), [], allow_software=False).info.pci == address


@pytest.mark.parametrize(("value", "known"), [(0, None), (1, 1), (2**64 - 1, None), (None, None), (24 * GIB, 24 * GIB)])
def test_memory_that_cannot_be_right_is_unknown(value: int | None, known: int | None) -> None:
    assert known_bytes(value) == known


def test_free_above_total_is_unknown() -> None:
    (device,) = list_devices([raw(memory_free=30 * GIB)], [], allow_software=False)
    assert (device.info.memory_total, device.info.memory_free) == (24 * GIB, None)


@pytest.mark.parametrize(("type_", "kind"), [(DeviceType.GPU, DeviceKind.GPU), (DeviceType.IGPU, DeviceKind.IGPU)])
def test_real_gpus(type_: DeviceType, kind: DeviceKind) -> None:
    (device,) = list_devices([raw(type=type_)], [], allow_software=False)
    assert (device.info.kind, device.info.usable, device.info.reason, device.handle) == (kind, True, None, 7)


def test_helpers_are_left_out() -> None:
    assert list_devices([raw(type=DeviceType.ACCEL), raw(type=DeviceType.META)], [], allow_software=True) == []


def test_a_software_driver_that_ggml_was_not_shown() -> None:
    real, software = list_devices(
        [raw()], [PhysicalDevice(1, "AMD", PhysicalType.DISCRETE), LLVMPIPE], allow_software=False
    )
    assert real.info.id == "Vulkan0"
    assert (software.info.kind, software.info.usable, software.info.reason) == (
        DeviceKind.SOFTWARE,
        False,
        SOFTWARE_REFUSED,
    )
    assert (software.info.name, software.info.memory_total) == (LLVMPIPE.name, None)


@pytest.mark.parametrize("name", ["llvmpipe (LLVM 15)", "SwiftShader Device", "lavapipe", "Some Driver"])
def test_a_software_driver_that_ggml_offers_is_there_once(name: str) -> None:
    physical = [PhysicalDevice(0, name, PhysicalType.CPU)]
    offered = raw(description=name, device_id="")
    (device,) = list_devices([offered], physical, allow_software=True)
    assert (device.info.kind, device.info.usable, device.info.pci) == (DeviceKind.SOFTWARE, True, None)
    (device,) = list_devices([offered], physical, allow_software=False)
    assert (device.info.usable, device.info.reason) == (False, SOFTWARE_REFUSED)


def test_ram_that_is_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VRAMBLE_SYSROOT", str(tmp_path))
    assert available_ram() is None
    file = tmp_path / "proc" / "meminfo"
    file.parent.mkdir()
    file.write_text("MemTotal:       16000 kB\nMemFree:  1 kB\nMemAvailable:    9000 kB\n")
    assert available_ram() == 9000 * 1024
    file.write_text("MemTotal: 16000 kB\n")
    assert available_ram() is None
