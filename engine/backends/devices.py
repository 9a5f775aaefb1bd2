"""ggml's devices as the rest of the program sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.backends.ggml import DeviceType, RawDevice
from engine.backends.vulkan_probe import PhysicalDevice
from engine.memory.host import read_ram
from engine.memory.tree import Tree, sysroot
from engine.memory.values import BYTES_LIMIT, pci_address
from engine.protocol.types import DeviceInfo, DeviceKind

SOFTWARE_NAMES = ("llvmpipe", "lavapipe", "softpipe", "swiftshader")
SOFTWARE_REFUSED = "A software driver: it computes on the processor, slower than the CPU backend does."


@dataclass(frozen=True)
class Device:
    """A device and its ggml handle; 0 when ggml does not know it (a hidden software driver)."""

    info: DeviceInfo
    handle: int


def known_bytes(value: int | None) -> int | None:
    """``value``, or None where a driver says 0 or nonsense: unknown is not zero."""
    return value if value is not None and 0 < value < BYTES_LIMIT else None


def is_software_name(name: str) -> bool:
    """Whether a driver of this name computes on the processor."""
    return any(word in name.lower() for word in SOFTWARE_NAMES)


def kind_of(raw: RawDevice, software: Iterable[str] = ()) -> DeviceKind:
    """What ``raw`` is. ``software``: names that Vulkan itself lists with device type CPU."""
    if raw.type is DeviceType.CPU:
        return DeviceKind.CPU
    if is_software_name(raw.description) or raw.description in set(software):
        return DeviceKind.SOFTWARE
    return DeviceKind.IGPU if raw.type is DeviceType.IGPU else DeviceKind.GPU


def available_ram() -> int | None:
    """``MemAvailable`` in bytes, as the memory strip reads it; ggml calls all of the RAM free."""
    return read_ram(Tree(sysroot())).available


def describe(raw: RawDevice, software: Iterable[str], *, allow_software: bool) -> Device:
    """The record for one ggml device."""
    kind = kind_of(raw, software)
    total = known_bytes(raw.memory_total)
    free = known_bytes(available_ram() if kind is DeviceKind.CPU else raw.memory_free)
    usable = kind is not DeviceKind.SOFTWARE or allow_software
    info = DeviceInfo(
        id=raw.name,
        backend=raw.backend,
        name=raw.description or raw.name,
        pci=pci_address(raw.device_id),
        kind=kind,
        memory_total=total,
        memory_free=free if total is None or free is None or free <= total else None,
        usable=usable,
        reason=None if usable else SOFTWARE_REFUSED,
    )
    return Device(info, raw.handle)


def hidden_software(devices: Iterable[PhysicalDevice]) -> list[Device]:
    """Records for the software drivers that ggml was not shown."""
    names = [device.name for device in devices if device.is_software]
    return [
        Device(
            DeviceInfo(
                id=f"Software{index}",
                backend="Vulkan",
                name=name,
                pci=None,
                kind=DeviceKind.SOFTWARE,
                memory_total=None,
                memory_free=None,
                usable=False,
                reason=SOFTWARE_REFUSED,
            ),
            0,
        )
        for index, name in enumerate(names)
    ]


def list_devices(
    raw_devices: Iterable[RawDevice], physical: Sequence[PhysicalDevice], *, allow_software: bool
) -> list[Device]:
    """All devices: what ggml offers (helpers such as BLAS left out), then software drivers hidden from it."""
    software = [device.name for device in physical if device.is_software]
    shown = [
        describe(raw, software, allow_software=allow_software)
        for raw in raw_devices
        if raw.type in {DeviceType.CPU, DeviceType.GPU, DeviceType.IGPU}
    ]
    seen = {device.info.name for device in shown}
    return shown + [device for device in hidden_software(physical) if device.info.name not in seen]
