"""The loaded backends and their devices, as one object for the worker."""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from engine.backends.build_record import BuildRecord, read_build_record
from engine.backends.devices import Device, list_devices
from engine.backends.ggml import Ggml
from engine.backends.plugins import load_plugins
from engine.backends.vulkan_probe import VISIBLE_DEVICES, PhysicalDevice, physical_devices, visible_devices
from engine.protocol.types import BackendInfo, DeviceInfo

ALLOW_SOFTWARE = "VRAMBLE_ALLOW_SOFTWARE_GPU"
BACKENDS_DIR = "VRAMBLE_BACKENDS_DIR"


class Catalogue:
    """Backends loaded once for the life of the process; devices asked for on demand."""

    def __init__(
        self, ggml: Ggml, backends: tuple[BackendInfo, ...], physical: Sequence[PhysicalDevice], *, allow_software: bool
    ) -> None:
        self._ggml = ggml
        self._physical = physical
        self._allow_software = allow_software
        self.backends = backends

    @classmethod
    def load(cls, ggml: Ggml, library: Path, environ: MutableMapping[str, str] | None = None) -> Catalogue:
        """Load every plugin in ``library`` and in the user's folder (``VRAMBLE_BACKENDS_DIR``).

        Sets ``GGML_VK_VISIBLE_DEVICES`` where software drivers are allowed; a value from the user stays.
        """
        env: MutableMapping[str, str] = os.environ if environ is None else environ
        allow = env.get(ALLOW_SOFTWARE) == "1"
        physical = physical_devices()
        visible = visible_devices(physical, allow_software=allow)
        if visible is not None:
            env.setdefault(VISIBLE_DEVICES, visible)
        own = env.get(BACKENDS_DIR)
        folders = [library, *([Path(own)] if own else [])]
        build: BuildRecord = read_build_record()
        return cls(ggml, load_plugins(ggml, folders, build), physical, allow_software=allow)

    def devices(self) -> list[Device]:
        """All devices with memory as it is now. Wakes sleeping GPUs."""
        return list_devices(self._ggml.devices(), self._physical, allow_software=self._allow_software)

    def infos(self) -> tuple[DeviceInfo, ...]:
        """The records of `devices`."""
        return tuple(device.info for device in self.devices())
