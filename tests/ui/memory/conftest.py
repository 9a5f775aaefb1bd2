from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory, WorkerGpu, WorkerMemory
from engine.memory.sampler import MemorySampler
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse, ModelInfo
from tests.fakes.sysroot import build_sysroot, machines

GIB = 1 << 30
CARD, APU = "0000:03:00.0", "0000:04:00.0"
WORKER = 4242


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MemorySnapshot]:
    """One sample of each recorded machine."""
    folder: Path = tmp_path_factory.mktemp("sysroots")
    return {name: MemorySampler(build_sysroot(name, folder / name)).sample(WORKER, whole=True) for name in machines()}


def model_on(pci: str | None, kind: DeviceKind = DeviceKind.GPU, memory: tuple[MemoryUse, ...] = ()) -> ModelInfo:
    device = DeviceInfo(
        id="Vulkan0" if pci else "CPU",
        backend="Vulkan" if pci else "CPU",
        name="a device",
        pci=pci,
        kind=kind,
        memory_total=None,
        memory_free=None,
        usable=True,
    )
    return ModelInfo(
        path="/m.gguf", name="m", architecture="llama", quant="Q4_0", n_params=1, size_bytes=8 * GIB, n_ctx=1,
        n_ctx_train=1, n_layers=1, gpu_layers=1, device=device, memory=memory,
    )  # fmt: skip


VRAM_POOL, GTT_POOL = Pool(24 * GIB, 10 * GIB), Pool(16 * GIB, GIB)
HOST = RamMemory(total=32 * GIB, available=20 * GIB)


def desktop(
    *,
    vram: Pool = VRAM_POOL,
    gtt: Pool = GTT_POOL,
    ram: RamMemory = HOST,
    held: WorkerGpu | None = None,
    kind: DeviceKind | None = DeviceKind.GPU,
) -> MemorySnapshot:
    """A machine with one card. ``held``: what the worker has there, beside 1 GiB of RAM and 2 GiB of mapped files."""
    gpu = GpuMemory(pci=CARD, name="AMD Radeon RX 7900 XTX", kind=kind, asleep=False, vram=vram, gtt=gtt)
    worker = WorkerMemory(pid=WORKER, ram=GIB, mapped=2 * GIB, gpus=(held,)) if held is not None else None
    return MemorySnapshot(gpus=(gpu,), ram=ram, worker=worker, taken=0.0)
