"""The loaded backends and their devices, as one object for the worker."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from engine.backends import no_device, reasons
from engine.backends.build_record import read_build_record
from engine.backends.devices import Device, list_devices
from engine.backends.driver import driver_of, read_maps
from engine.backends.elf import NotLoadable, read_library
from engine.backends.finding import Folder
from engine.backends.ggml import Ggml, mapped_library
from engine.backends.joined import join_cards
from engine.backends.load_guard import LoadGuard
from engine.backends.plugin_record import read_record
from engine.backends.plugins import PATIENCE_WITH_OWN, VULKAN, Conditions, load_plugins, names_off
from engine.backends.vulkan_probe import VISIBLE_DEVICES, PhysicalDevice, physical_devices, visible_devices
from engine.memory.tree import Tree, sysroot
from engine.protocol.types import BackendInfo, DeviceInfo

ALLOW_SOFTWARE = "VRAMBLE_ALLOW_SOFTWARE_GPU"
BACKENDS_DIR = "VRAMBLE_BACKENDS_DIR"
BACKENDS_OFF = "VRAMBLE_BACKENDS_OFF"
"""Comma list of backends, as in `BackendInfo.name`, that are not loaded."""

BINDINGS = "llama-cpp-python"
VULKAN_DRIVER = "vulkan-driver"
"""Name of the marker for Vulkan's own list, which runs code of every installed driver."""


@dataclass(frozen=True)
class _VulkanList:
    """Vulkan's own list; None when it was not asked. ``blocked``: why the plugin must not ask either."""

    devices: list[PhysicalDevice] | None = None
    blocked: str | None = None


class Catalogue:
    """Backends loaded once for the life of the process; devices asked for on demand."""

    def __init__(
        self,
        ggml: Ggml,
        backends: tuple[BackendInfo, ...],
        physical: Sequence[PhysicalDevice],
        *,
        environ: Mapping[str, str],
    ) -> None:
        self._ggml = ggml
        self._physical = physical
        self._environ = environ
        self._rocm_code = _targets(backends)
        self.backends = backends

    @classmethod
    def load(
        cls,
        ggml: Ggml,
        library: Path,
        environ: MutableMapping[str, str] | None = None,
        guard: LoadGuard | None = None,
    ) -> Catalogue:
        """Load every plugin in ``library`` and in the user's folder (``VRAMBLE_BACKENDS_DIR``).

        Sets ``GGML_VK_VISIBLE_DEVICES`` where software drivers are allowed; a value from the user stays.

        Args:
            guard: Remembers what is being loaded; default: one with its markers in the user's folder.
        """
        env: MutableMapping[str, str] = os.environ if environ is None else environ
        guard = guard or load_guard(env)
        off = names_off(env.get(BACKENDS_OFF, ""))
        vulkan = _VulkanList() if VULKAN in off else _ask_vulkan(env, guard)
        users = env.get(BACKENDS_DIR)
        folders = [Folder(library), *([Folder(Path(users), users=True)] if users else [])]
        conditions = Conditions(
            build=read_build_record(),
            guard=guard,
            engine=_bindings(),
            base=_base(),
            glibc=reasons.system_glibc(),
            off=off,
            blocked={VULKAN: vulkan.blocked} if vulkan.blocked else {},
            why_none=lambda name: no_device.why_none(name, env, sysroot(env), vulkan.devices),
        )
        return cls(ggml, load_plugins(ggml, folders, conditions), vulkan.devices or [], environ=env)

    def devices(self) -> list[Device]:
        """All devices with memory as it is now. Wakes sleeping GPUs."""
        allow = self._environ.get(ALLOW_SOFTWARE) == "1"
        root = sysroot(self._environ)
        found = with_drivers(list_devices(self._ggml.devices(), self._physical, allow_software=allow))
        return no_device.without_code(join_cards(found, root), self._rocm_code, root, self._environ)

    def infos(self) -> tuple[DeviceInfo, ...]:
        """The records of `devices`."""
        return tuple(device.info for device in self.devices())


def with_drivers(devices: Sequence[Device]) -> list[Device]:
    """The same devices, each with the driver that this process has loaded for it."""
    maps = read_maps()
    return [
        replace(device, info=msgspec.structs.replace(device.info, driver=driver_of(device.info.backend, maps)))
        for device in devices
    ]


def load_guard(environ: Mapping[str, str]) -> LoadGuard:
    """The guard with its markers in the user's folder of plugins; without one nothing is guarded."""
    users = environ.get(BACKENDS_DIR)
    return LoadGuard(Path(users) if users else None, Tree(Path("/")))


def _ask_vulkan(environ: MutableMapping[str, str], guard: LoadGuard) -> _VulkanList:
    blocked = guard.begin(VULKAN_DRIVER, patience=PATIENCE_WITH_OWN)
    if blocked is not None:
        return _VulkanList(blocked=f"The Vulkan driver seems to be at fault. {blocked}")
    try:
        devices = physical_devices()
    finally:
        guard.end()
    visible = visible_devices(devices, allow_software=environ.get(ALLOW_SOFTWARE) == "1")
    if visible is not None:
        environ.setdefault(VISIBLE_DEVICES, visible)
    return _VulkanList(devices)


def _bindings() -> str | None:
    try:
        return importlib.metadata.version(BINDINGS)
    except importlib.metadata.PackageNotFoundError:
        return None


def _base() -> str | None:
    """The soname of the libggml-base in this process: plugins are to be linked to just that one."""
    path = mapped_library(reasons.BASE)
    try:
        return read_library(path).soname or None if path is not None else None
    except NotLoadable:
        return None


def _targets(backends: Sequence[BackendInfo]) -> tuple[str, ...]:
    """What the loaded ROCm plugin has code for, as far as its record says."""
    loaded = [backend for backend in backends if backend.loaded and backend.name == no_device.ROCM]
    return read_record(Path(loaded[0].path)).gfx if loaded else ()
