"""How a device is named in load options: PCI address or ggml id, and through which backend.

``0000:03:00.0`` is a card through the preferred backend, ``0000:03:00.0/ROCm`` the same card through ROCm, where that
backend shows it. ``Vulkan0`` is ggml's own id, which is stable only inside one process.
"""

from __future__ import annotations

from engine.protocol.types import DeviceInfo

SEPARATOR = "/"


def split_name(wanted: str) -> tuple[str, str | None]:
    """The name of the device, and of the backend if there is one in ``wanted``."""
    name, _, backend = wanted.partition(SEPARATOR)
    return name, backend or None


def named(device: DeviceInfo, wanted: str) -> bool:
    """Whether ``wanted`` names ``device``, whichever backend it asks for. Upper and lower case are the same."""
    name = split_name(wanted)[0].lower()
    return bool(name) and name in (device.id.lower(), device.pci)


def through_backend(device: DeviceInfo, wanted: str) -> bool:
    """Whether ``wanted`` asks for the backend of ``device``."""
    backend = split_name(wanted)[1]
    return backend is not None and backend.lower() == device.backend.lower()
