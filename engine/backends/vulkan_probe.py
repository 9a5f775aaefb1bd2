"""Vulkan's own list of physical devices, asked before ggml asks.

ggml-vulkan hides software drivers unless ``GGML_VK_VISIBLE_DEVICES`` names them by index, and that variable also
switches off its own selection. So real GPUs are left to ggml untouched; software drivers are listed from here, and
made visible only where they are allowed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

LIBRARY = "libvulkan.so.1"
VISIBLE_DEVICES = "GGML_VK_VISIBLE_DEVICES"

_API_VERSION_1_2 = (1 << 22) | (2 << 12)
_STRUCTURE_APPLICATION_INFO = 0
_STRUCTURE_INSTANCE_CREATE_INFO = 1
_NAME_OFFSET = 20
_NAME_LENGTH = 256
_PROPERTIES_SIZE = 4096
"""More than any `VkPhysicalDeviceProperties` (824 bytes)."""


class PhysicalType(IntEnum):
    """``VkPhysicalDeviceType``."""

    OTHER = 0
    INTEGRATED = 1
    DISCRETE = 2
    VIRTUAL = 3
    CPU = 4


@dataclass(frozen=True)
class PhysicalDevice:
    """One entry of Vulkan's list; ``index`` is its place there."""

    index: int
    name: str
    type: PhysicalType

    @property
    def is_software(self) -> bool:
        """Whether it computes on the processor."""
        return self.type is PhysicalType.CPU


class _ApplicationInfo(ctypes.Structure):
    _fields_ = [
        ("sType", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("pApplicationName", ctypes.c_char_p),
        ("applicationVersion", ctypes.c_uint32),
        ("pEngineName", ctypes.c_char_p),
        ("engineVersion", ctypes.c_uint32),
        ("apiVersion", ctypes.c_uint32),
    ]


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = [
        ("sType", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("pApplicationInfo", ctypes.POINTER(_ApplicationInfo)),
        ("enabledLayerCount", ctypes.c_uint32),
        ("ppEnabledLayerNames", ctypes.c_void_p),
        ("enabledExtensionCount", ctypes.c_uint32),
        ("ppEnabledExtensionNames", ctypes.c_void_p),
    ]


def physical_devices(library: str = LIBRARY) -> list[PhysicalDevice]:
    """Vulkan's list; empty without a loader, without a driver, or when the driver fails."""
    try:
        vulkan = ctypes.CDLL(library)
    except OSError:
        return []
    application = _ApplicationInfo(sType=_STRUCTURE_APPLICATION_INFO, apiVersion=_API_VERSION_1_2)
    create = _InstanceCreateInfo(sType=_STRUCTURE_INSTANCE_CREATE_INFO, pApplicationInfo=ctypes.pointer(application))
    instance = ctypes.c_void_p()
    if vulkan.vkCreateInstance(ctypes.byref(create), None, ctypes.byref(instance)) != 0:
        return []
    try:
        return _enumerate(vulkan, instance)
    finally:
        vulkan.vkDestroyInstance(instance, None)


def _enumerate(vulkan: ctypes.CDLL, instance: ctypes.c_void_p) -> list[PhysicalDevice]:
    count = ctypes.c_uint32()
    if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None) != 0:
        return []
    handles = (ctypes.c_void_p * count.value)()
    if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles) != 0:
        return []
    devices = []
    for index in range(count.value):
        raw = ctypes.create_string_buffer(_PROPERTIES_SIZE)
        vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(handles[index]), raw)
        devices.append(parse_properties(index, raw.raw))
    return devices


def parse_properties(index: int, raw: bytes) -> PhysicalDevice:
    """Type and name out of a `VkPhysicalDeviceProperties`."""
    number = int.from_bytes(raw[16:20], "little")
    name = raw[_NAME_OFFSET : _NAME_OFFSET + _NAME_LENGTH].split(b"\0")[0].decode("utf-8", "replace")
    known = {member.value for member in PhysicalType}
    return PhysicalDevice(index, name, PhysicalType(number) if number in known else PhysicalType.OTHER)


def visible_devices(devices: Sequence[PhysicalDevice], *, allow_software: bool) -> str | None:
    """Value for ``GGML_VK_VISIBLE_DEVICES``, or None to leave the selection to ggml.

    Real GPUs come first and in Vulkan's order, so ``Vulkan0`` stays the same card with and without software drivers.
    """
    software = [device for device in devices if device.is_software]
    if not software or not allow_software:
        return None
    return ",".join(str(device.index) for device in [*(d for d in devices if not d.is_software), *software])
