"""Room and bandwidth of each device, from the worker's and the kernel's figures."""

from __future__ import annotations

import msgspec
import pytest

from engine.memory.fit import FitDevice, fit_devices
from engine.memory.records import GpuMemory, MemorySnapshot, ModelShare, Pool, RamMemory, WorkerMemory
from engine.memory.room import RAM_RESERVE
from engine.memory.sampler import MemorySampler
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceKind, MemoryUse
from tests.engine.memory.fit.conftest import info
from tests.fakes.sysroot import build_sysroot, machines

PCI = "0000:03:00.0"
CPU = info("CPU", DeviceKind.CPU, 16 * GIB)


def snapshot(available: int | None = 10 * GIB, **gpu: object) -> MemorySnapshot:
    cards = (GpuMemory(pci=PCI, **gpu),) if gpu else ()  # type: ignore[arg-type]
    return MemorySnapshot(gpus=cards, ram=RamMemory(total=32 * GIB, available=available), taken=0.0)


def one(found: tuple[FitDevice, ...], id_: str = "Vulkan0") -> FitDevice:
    return next(device for device in found if device.info.id == id_)


def test_the_kernel_knows_better_than_the_worker() -> None:
    card = info("Vulkan0", DeviceKind.GPU, 16 * GIB, "Some Radeon", PCI)
    found = fit_devices([card, CPU], snapshot(name="AMD Radeon RX 7800 XT", kind=DeviceKind.GPU, room=9 * GIB))
    assert one(found).room == 9 * GIB
    assert one(found).bandwidth == 624e9, "the kernel's name is exact"
    assert one(found, "CPU").room == 10 * GIB - RAM_RESERVE


def test_the_worker_alone() -> None:
    """No amdgpu card, or no snapshot: what the backend said, less a reserve for the desktop."""
    card = info("Vulkan0", DeviceKind.GPU, 16 * GIB, "NVIDIA H200", PCI)
    for seen in (None, snapshot()):
        found = fit_devices([card, CPU], seen)
        assert one(found).room == 15 * GIB
        assert one(found).bandwidth == 4800e9
    little = info("Vulkan0", DeviceKind.GPU, 2 * GIB)
    assert one(fit_devices([little, CPU])).room == 2 * GIB - GIB // 4


def test_an_apu_is_bounded_by_the_ram() -> None:
    shared = info("Vulkan0", DeviceKind.IGPU, 24 * GIB, "AMD Radeon 780M Graphics", PCI)
    found = fit_devices([shared, CPU], snapshot(available=4 * GIB))
    assert one(found).room == 4 * GIB - RAM_RESERVE
    assert one(found, "CPU").bandwidth == one(found).bandwidth == 102e9, "it is the same memory"


def test_a_backend_that_sees_less_of_an_apu() -> None:
    shared = info("ROCm0", DeviceKind.IGPU, 6 * GIB, "AMD Radeon 780M Graphics", PCI)
    seen = snapshot(name="APU", kind=DeviceKind.IGPU, room=20 * GIB, vram=Pool(4 * GIB, GIB))
    found = one(fit_devices([shared, CPU], seen), "ROCm0")
    assert (found.room, found.own) == (6 * GIB, 3 * GIB)


def test_unknown_stays_unknown() -> None:
    card = info("Vulkan0", DeviceKind.GPU, None, "AMD Radeon Graphics", PCI)
    found = fit_devices([card, info("CPU", DeviceKind.CPU, None)], snapshot(available=None))
    assert [(device.room, device.bandwidth) for device in found] == [(None, None), (None, None)]


def test_what_is_loaded_comes_back() -> None:
    card = info("Vulkan0", DeviceKind.GPU, 16 * GIB, "x", PCI)
    held = (MemoryUse(device="Vulkan0", weights=3 * GIB, kv=GIB), MemoryUse(device="CPU", weights=GIB))
    seen = snapshot(name="x", kind=DeviceKind.GPU, room=2 * GIB)
    found = fit_devices([card, CPU], seen, held)
    assert one(found).room == 6 * GIB
    assert one(found, "CPU").room == 11 * GIB - RAM_RESERVE
    assert fit_devices([card, CPU], seen)[0].room == 2 * GIB


@pytest.mark.parametrize(("ram", "mapped", "back"), [(2, 9, 1), (10, 1, 9), (None, None, 9)])
def test_pages_of_the_models_file_are_available_all_the_time(ram: int | None, mapped: int, back: int) -> None:
    """8 GiB of weights that are mapped; that are read; of which nothing is known."""
    held = (MemoryUse(device="CPU", weights=8 * GIB, kv=GIB),)
    worker = None if ram is None else WorkerMemory(pid=1, ram=ram * GIB, mapped=mapped * GIB)
    share = ModelShare(pci=None, weights=8 * GIB, kv=GIB)
    seen = msgspec.structs.replace(snapshot(), worker=worker, model=(share,))
    assert one(fit_devices([CPU], seen, held), "CPU").room == (10 + back) * GIB - RAM_RESERVE


@pytest.mark.parametrize("name", machines())
def test_recorded_machines(name: str, tmp_path) -> None:
    """Room never exceeds what is free, and never what the RAM could give to memory that is RAM."""
    seen = MemorySampler(build_sysroot(name, tmp_path), clock=lambda: 0.0).sample(whole=True)
    devices = [
        info(f"Vulkan{n}", gpu.kind or DeviceKind.GPU, 256 * GIB, "", gpu.pci) for n, gpu in enumerate(seen.gpus)
    ]
    for device in fit_devices([*devices, CPU], seen):
        gpu = seen.gpu(device.info.pci or "")
        if gpu is None or device.room is None:
            continue
        assert gpu.vram.free is not None
        assert device.own <= gpu.vram.free
        if gpu.kind is DeviceKind.GPU:
            assert device.room <= gpu.vram.free
        else:
            assert gpu.gtt.free is not None
            assert seen.ram.available is not None
            assert device.room - device.own <= min(gpu.gtt.free, seen.ram.available)


def test_the_measured_speed_of_the_ram_is_taken_where_nobody_names_one() -> None:
    card = info("Vulkan0", DeviceKind.GPU, 16 * GIB, "AMD Radeon RX 7800 XT", PCI)
    found = fit_devices([card, CPU], snapshot(), ram_speed=40e9)
    assert (one(found, "CPU").bandwidth, one(found, "CPU").measured) == (40e9, True)
    assert (one(found).bandwidth, one(found).measured) == (624e9, False)
    shared = info("Vulkan0", DeviceKind.IGPU, 24 * GIB, "AMD Radeon 780M Graphics", PCI)
    found = fit_devices([shared, CPU], snapshot(), ram_speed=40e9)
    assert (one(found, "CPU").bandwidth, one(found, "CPU").measured) == (102e9, False), "the same memory, and whole"
    assert not one(fit_devices([card, CPU], snapshot()), "CPU").measured


def test_the_kernels_clock_goes_before_the_name() -> None:
    card = info("Vulkan0", DeviceKind.GPU, 16 * GIB, "AMD Radeon RX 7800 XT", PCI)
    seen = snapshot(name="AMD Radeon RX 7800 XT", kind=DeviceKind.GPU, bandwidth=500e9)
    assert one(fit_devices([card, CPU], seen)).bandwidth == 500e9
