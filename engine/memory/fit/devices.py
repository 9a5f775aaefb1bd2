"""The devices of a machine with the room that a model has on each, out of what the worker and the kernel say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engine.memory.fit.bandwidth import bandwidth_of
from engine.memory.fit.records import FitDevice, LearnedBytes
from engine.memory.owners import maps_weights
from engine.memory.records import GpuMemory, MemorySnapshot
from engine.memory.room import RAM_RESERVE, VRAM_RESERVE
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse

_SMALL_SHARE: Final = 8
"""A reserve is at most one part in so many of what there is."""


Learned = Callable[[DeviceInfo], LearnedBytes | None]


def fit_devices(
    devices: Sequence[DeviceInfo],
    snapshot: MemorySnapshot | None = None,
    held: Sequence[MemoryUse] = (),
    learned: Learned = lambda _device: None,
    ram_speed: float | None = None,
) -> tuple[FitDevice, ...]:
    """`FitDevice` of each device.

    Args:
        devices: What the worker named (`Hello.devices`).
        snapshot: What the kernel says now; without it the worker's own figures count, taken when it started.
        held: What the loaded model holds (`ModelInfo.memory`): it is given back before the next one is loaded.
        learned: What earlier loads on a GPU taught (`engine.memory.fit.correction`).
        ram_speed: Bytes a second that the RAM gives, as measured; that of an integrated GPU's memory goes before it.
    """
    kept = {use.device: use.total for use in held}
    cpu = next((device for device in devices if device.kind is DeviceKind.CPU), None)
    in_ram = sum(kept.get(device.id, 0) for device in devices if device.kind is not DeviceKind.GPU)
    ram = _ram_room(cpu, snapshot, in_ram - _mapped(snapshot, held))
    cards = {device.id: snapshot.gpu(device.pci) if snapshot and device.pci else None for device in devices}
    of_ram = [_bandwidth(device, cards[device.id]) for device in devices if device.kind is DeviceKind.IGPU]
    named = next((speed for speed in of_ram if speed), None)
    return tuple(
        FitDevice(
            info=device,
            room=ram,
            bandwidth=named or ram_speed,
            measured=named is None and ram_speed is not None,
            reserve=_ram_reserve(cpu, snapshot),
        )
        if device.kind in (DeviceKind.CPU, DeviceKind.SOFTWARE)
        else _card(device, cards[device.id], ram, kept.get(device.id, 0), learned(device))
        for device in devices
    )


def _card(
    device: DeviceInfo, gpu: GpuMemory | None, ram: int | None, kept: int, learned: LearnedBytes | None
) -> FitDevice:
    room = _gpu_room(device, gpu, ram)
    return FitDevice(
        info=device,
        room=None if room is None else room + kept,
        own=gpu.vram.free or 0 if gpu and device.kind is DeviceKind.IGPU else 0,
        bandwidth=_bandwidth(device, gpu),
        learned=learned,
        reserve=_reserve(device, gpu),
    )


def _reserve(device: DeviceInfo, gpu: GpuMemory | None) -> int:
    """As `engine.memory.room` and `_gpu_room` take it off."""
    if device.kind is DeviceKind.IGPU:
        return RAM_RESERVE
    total = gpu.vram.total if gpu is not None and gpu.room is not None else None
    return min(VRAM_RESERVE, (total or device.memory_total or device.memory_free or 0) // _SMALL_SHARE)


def _ram_reserve(cpu: DeviceInfo | None, snapshot: MemorySnapshot | None) -> int:
    total = snapshot.ram.total if snapshot else None
    if snapshot is None or snapshot.ram.available is None:
        total = cpu.memory_total if cpu is not None else None
    return RAM_RESERVE if total is None else min(RAM_RESERVE, total // _SMALL_SHARE)


def _bandwidth(device: DeviceInfo, gpu: GpuMemory | None) -> float | None:
    """The kernel's figure, else that of the card's name; drivers name cards less exactly than the kernel's table."""
    if gpu is not None and (speed := gpu.bandwidth or bandwidth_of(gpu.name)):
        return speed
    return bandwidth_of(device.name)


def _mapped(snapshot: MemorySnapshot | None, held: Sequence[MemoryUse]) -> int:
    """Bytes of ``held`` that are pages of the model's file: the kernel counts them as available while it is loaded."""
    if snapshot is None or snapshot.ram.available is None or snapshot.worker is None or not held:
        return 0
    host = snapshot.model_on(None)
    return host.weights if host is not None and maps_weights(snapshot.worker, host) else 0


def _ram_room(cpu: DeviceInfo | None, snapshot: MemorySnapshot | None, held: int) -> int | None:
    available = snapshot.ram.available if snapshot else None
    if available is None and cpu is not None:
        available = cpu.memory_free
    return None if available is None else max(0, available + held - _ram_reserve(cpu, snapshot))


def _gpu_room(device: DeviceInfo, gpu: GpuMemory | None, ram: int | None) -> int | None:
    """The kernel's figure where it knows the card; else what the backend said, bounded by RAM where it is RAM."""
    if gpu is not None and gpu.room is not None:
        if device.kind is not DeviceKind.IGPU or device.memory_total is None:
            return gpu.room
        # ROCm sees an APU's carve-out or its GTT, not both.
        return min(gpu.room, device.memory_total)
    if device.memory_free is None:
        return None
    if device.kind is DeviceKind.IGPU:
        return device.memory_free if ram is None else min(device.memory_free, ram)
    reserve = min(VRAM_RESERVE, (device.memory_total or device.memory_free) // _SMALL_SHARE)
    return max(0, device.memory_free - reserve)
