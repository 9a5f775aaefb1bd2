"""Devices as the worker told them, with what would be free for a model now."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.memory.records import MemorySnapshot
from engine.protocol.types import DeviceInfo, DeviceKind


def free_now(devices: Sequence[DeviceInfo], snapshot: MemorySnapshot | None) -> tuple[DeviceInfo, ...]:
    """``devices`` with the memory that is free when the worker has given back what it holds.

    The worker told what was free when it started. Where the kernel says what is free now, that is taken, and what
    the worker holds is added, because a load takes the place of the present model.
    """
    if snapshot is None:
        return tuple(devices)
    return tuple(_with_free(device, snapshot) for device in devices)


def _with_free(device: DeviceInfo, snapshot: MemorySnapshot) -> DeviceInfo:
    free = _ram(snapshot) if device.kind is DeviceKind.CPU else _of_card(device, snapshot)
    return device if free is None else msgspec.structs.replace(device, memory_free=free)


def _of_card(device: DeviceInfo, snapshot: MemorySnapshot) -> int | None:
    gpu = None if device.pci is None else snapshot.gpu(device.pci)
    if gpu is None or gpu.vram.free is None:
        return None
    held = None if snapshot.worker is None else snapshot.worker.on(gpu.pci)
    vram = gpu.vram.free + ((held.vram or 0) if held is not None else 0)
    if device.kind is not DeviceKind.IGPU:
        return vram
    return None if gpu.gtt.free is None else vram + gpu.gtt.free + ((held.gtt or 0) if held is not None else 0)


def _ram(snapshot: MemorySnapshot) -> int | None:
    """GTT is RAM too."""
    available, worker = snapshot.ram.available, snapshot.worker
    if available is None or worker is None:
        return available
    return available + (worker.ram or 0) + sum(gpu.gtt or 0 for gpu in worker.gpus)
