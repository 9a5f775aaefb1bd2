"""What a machine has for a model, for recommendations: the device that a load takes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.hub.catalogue import Room
from engine.memory.fit.records import FitDevice
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceKind

LEAST: Final = GIB
"""A card with less than this is not what a model should be chosen for."""


def room_of(devices: Sequence[FitDevice]) -> Room | None:
    """Room of the largest card of its own, else of the integrated GPU, else of the RAM; None: nothing is known."""
    for kind in (DeviceKind.GPU, DeviceKind.IGPU, DeviceKind.CPU):
        rooms = [(one.room, one.bandwidth) for one in devices if one.info.kind is kind and one.room is not None]
        size, bandwidth = max(rooms, key=lambda pair: pair[0], default=(0, None))
        if size >= LEAST or (rooms and kind is DeviceKind.CPU):
            return Room(size=size, bandwidth=bandwidth)
    return None
