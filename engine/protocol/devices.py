"""Backends and devices as the worker reports them."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class DeviceKind(StrEnum):
    """What a compute device is, physically."""

    GPU = "gpu"
    IGPU = "igpu"
    CPU = "cpu"
    SOFTWARE = "software"
    """A graphics driver that computes on the processor (llvmpipe). Never chosen by itself."""


SWITCHED_OFF = "It is switched off in the settings."
"""`BackendInfo.error` of a backend that the user does not want."""


class BackendInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One ggml backend plugin; each name is there once.

    ``error`` says why it is absent (with the loader's own words), or, when it is loaded, why it has no device, or why a
    file of the user that should have taken its place was not used.
    """

    name: str
    path: str
    loaded: bool
    error: str | None = None


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One compute device as ggml reports it. Memory in bytes, None when unknown.

    ``id`` is ggml's device name (``Vulkan0``), stable only inside one process; ``pci`` is the
    lower-case PCI address (``0000:03:00.0``) and the identity used everywhere else.
    ``reason`` says why a device is not usable. ``driver`` is a text that changes with its driver, empty
    for the processor and where that is not known.
    """

    id: str
    backend: str
    name: str
    pci: str | None
    kind: DeviceKind
    memory_total: int | None
    memory_free: int | None
    usable: bool
    reason: str | None = None
    driver: str = ""
