"""The device that loads will take, also before the worker has told its devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from app.load.settings import LoadSettings, SeenDevice
from app.settings.store import SettingsStore
from engine.loading.profile import CPU, device_to_expect, room_on
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions

ROOM_STEP = 2 * GIB
"""A smaller change of what is free is not worth a new settings file."""


class ExpectedDevice:
    """Remembers for the next start what was there.

    Args:
        store: Keeps `LoadSettings.seen`.
        devices: What the worker told; empty before it did.
    """

    def __init__(self, store: SettingsStore, devices: Callable[[], Sequence[DeviceInfo]]) -> None:
        self._store, self._devices = store, devices

    def of(self, options: LoadOptions) -> SeenDevice:
        """Kind and room of the device that a load with ``options`` will take."""
        devices = self._devices()
        wanted = options.devices[0] if options.devices else options.device
        if not devices:
            on_cpu = wanted == CPU or options.n_gpu_layers == 0
            return SeenDevice() if on_cpu else self._store.get(LoadSettings).seen
        device = device_to_expect(devices, wanted, options.n_gpu_layers)
        return SeenDevice() if device is None else SeenDevice(kind=device.kind, room=room_on(device, devices))

    def keep(self, options: LoadOptions) -> None:
        """For the next start; not for every change of free memory."""
        found = self.of(options)
        room = found.room if found.kind is DeviceKind.IGPU else None
        settings = self._store.get(LoadSettings)
        kept = settings.seen
        near = room is kept.room or (None not in (room, kept.room) and abs((room or 0) - (kept.room or 0)) < ROOM_STEP)
        if found.kind is not kept.kind or not near:
            self._store.put(msgspec.structs.replace(settings, seen=SeenDevice(kind=found.kind, room=room)))
