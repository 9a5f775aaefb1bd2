"""The engine's own word: the model's share on each card, and cards of other vendors."""

from __future__ import annotations

from engine.memory.owners import model_shares, reported_gpus
from engine.memory.records import GoneGpu, GpuMemory, MemorySnapshot, ModelShare, RamMemory
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse, ModelInfo

GIB = 1 << 30


def device(id_: str, pci: str | None, kind: DeviceKind = DeviceKind.GPU, backend: str = "Vulkan") -> DeviceInfo:
    return DeviceInfo(
        id=id_, backend=backend, name=f"card {id_}", pci=pci, kind=kind, memory_total=8 * GIB, memory_free=7 * GIB,
        usable=True,
    )  # fmt: skip


CPU = device("CPU", None, DeviceKind.CPU, "CPU")
FIRST, SECOND = device("Vulkan0", "0000:03:00.0"), device("Vulkan1", "0000:43:00.0")


def model(*uses: MemoryUse, main: DeviceInfo = FIRST, devices: tuple[DeviceInfo, ...] = ()) -> ModelInfo:
    return ModelInfo(
        path="/m.gguf", name="m", architecture="llama", quant="Q4_0", n_params=1, size_bytes=1, n_ctx=1, n_ctx_train=1,
        n_layers=1, gpu_layers=1, device=main, devices=devices, memory=uses,
    )  # fmt: skip


def test_no_model_owns_nothing() -> None:
    assert model_shares(None) == ()
    assert model_shares(model()) == ()


def test_a_split_model_is_told_by_card_and_the_rest_is_in_ram() -> None:
    loaded = model(
        MemoryUse(device="CPU", weights=5, output=1),
        MemoryUse(device="Vulkan1", weights=30, kv=3, compute=2),
        MemoryUse(device="Vulkan0", weights=40, kv=4, compute=2),
        MemoryUse(device="BLAS"),
        devices=(FIRST, SECOND),
    )
    assert model_shares(loaded) == (
        ModelShare(pci="0000:03:00.0", weights=40, kv=4, compute=2),
        ModelShare(pci="0000:43:00.0", weights=30, kv=3, compute=2),
        ModelShare(pci=None, weights=5, output=1),
    )


def test_on_the_processor_all_is_ram() -> None:
    (share,) = model_shares(model(MemoryUse(device="CPU", weights=7, kv=2), main=CPU))
    assert (share.pci, share.total) == (None, 9)


def test_a_card_without_an_address_is_not_mistaken_for_ram() -> None:
    nameless = device("Vulkan0", None)
    (share,) = model_shares(model(MemoryUse(device="Vulkan0", weights=7), main=nameless))
    assert share.pci == "Vulkan0"


def test_cards_of_other_vendors_are_told_by_the_engine_once_each() -> None:
    amd = GpuMemory(pci="0000:03:00.0", name="AMD", kind=DeviceKind.GPU)
    snapshot = MemorySnapshot(gpus=(amd,), gone=(GoneGpu("0000:43:00.0", "AMD"),), ram=RamMemory(), taken=0.0)
    nvidia = device("Vulkan2", "0000:01:00.0")
    devices = (CPU, FIRST, SECOND, nvidia, device("CUDA0", "0000:01:00.0", backend="CUDA"), device("X", None))
    found = reported_gpus(devices, snapshot)
    assert [(gpu.id, gpu.backend, gpu.pci) for gpu in found] == [
        ("Vulkan2", "Vulkan", "0000:01:00.0"),
        ("X", "Vulkan", None),
    ]
    assert (found[0].total, found[0].free) == (8 * GIB, 7 * GIB)


def test_a_software_driver_is_no_card() -> None:
    snapshot = MemorySnapshot(gpus=(), ram=RamMemory(), taken=0.0)
    assert reported_gpus((device("Vulkan0", None, DeviceKind.SOFTWARE), CPU), snapshot) == ()
