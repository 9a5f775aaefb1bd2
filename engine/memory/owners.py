"""What the engine says of memory beside the kernel: who owns the worker's part, and cards of other vendors."""

from __future__ import annotations

from collections.abc import Sequence

from engine.memory.records import MemorySnapshot, ModelShare, ReportedGpu, WorkerMemory
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse, ModelInfo

_CARDS = (DeviceKind.GPU, DeviceKind.IGPU)


def model_shares(model: ModelInfo | None) -> tuple[ModelShare, ...]:
    """The loaded model's memory for each device, cards first.

    Buffers of the processor and those that a backend keeps in system memory for it (``Vulkan_Host``) are one share,
    without a PCI address. A card whose address is not known goes by its ggml id.
    """
    if model is None:
        return ()
    cards = {device.id: device.pci or device.id for device in (*model.devices, model.device) if device.kind in _CARDS}
    uses: dict[str | None, list[MemoryUse]] = {}
    for use in model.memory:
        uses.setdefault(cards.get(use.device), []).append(use)
    shares = (
        ModelShare(
            pci=pci,
            weights=sum(use.weights for use in group),
            kv=sum(use.kv for use in group),
            compute=sum(use.compute for use in group),
            output=sum(use.output for use in group),
            image=sum(use.image for use in group),
            draft=sum(use.draft for use in group),
        )
        for pci, group in uses.items()
    )
    found = [share for share in shares if share.total]
    return tuple(sorted(found, key=lambda share: (share.pci is None, share.pci or "")))


def maps_weights(worker: WorkerMemory, host: ModelShare) -> bool:
    """Whether the weights that the processor needs are pages of the file, not read into the worker's own memory.

    Nobody says so. Pages of libraries (75 MB) are mapped in any case, and the kernel may have dropped some of the
    file's: with fewer than the weights have it counts whether the private memory holds all of the model.
    """
    mapped = worker.mapped or 0
    return mapped >= host.weights or (mapped >= host.weights / 2 and (worker.ram or 0) < host.total)


def reported_gpus(devices: Sequence[DeviceInfo], snapshot: MemorySnapshot) -> tuple[ReportedGpu, ...]:
    """Cards that the engine named and the kernel's readers do not know: those of other vendors.

    A card that several backends offer is told once, by the first.
    """
    known = {gpu.pci for gpu in snapshot.gpus} | {gone.pci for gone in snapshot.gone}
    found = []
    for device in devices:
        if device.kind not in _CARDS or device.pci in known:
            continue
        if device.pci is not None:
            known.add(device.pci)
        found.append(
            ReportedGpu(
                id=device.id,
                name=device.name,
                backend=device.backend,
                pci=device.pci,
                kind=device.kind,
                total=device.memory_total,
                free=device.memory_free,
            )
        )
    return tuple(found)
