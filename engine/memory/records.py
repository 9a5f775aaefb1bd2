"""What the memory readers hand out. All sizes are bytes, and None means unknown: never 0, never a guess."""

from __future__ import annotations

import msgspec

from engine.protocol.types import DeviceKind


class Pool(msgspec.Struct, frozen=True):
    """One kind of memory: how much there is and how much of it is taken, by all programs together."""

    total: int | None = None
    used: int | None = None

    @property
    def free(self) -> int | None:
        """What is left, or None when either figure is unknown."""
        if self.total is None or self.used is None:
            return None
        return self.total - self.used


class ProcessMemory(msgspec.Struct, frozen=True, kw_only=True):
    """GPU memory that one process holds on one card, as far as the kernel lets us see it (same user)."""

    pid: int
    name: str
    vram: int | None = None
    gtt: int | None = None


class GpuMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One graphics card at one moment. The field names are the keys of ``vramble memory --json``.

    Attributes:
        pci: PCI address such as ``0000:03:00.0``: the card's identity.
        gfx: Compute target such as ``gfx1100``.
        kind: ``gpu`` has memory of its own; ``igpu`` shares the system's.
        asleep: Runtime power management has switched the card off; its sensors are then left alone.
        vram: Own memory; on an ``igpu`` the part of the RAM that the firmware set aside.
        gtt: System memory that the card maps: part of the RAM.
        room: What a model may take now, after a reserve for the desktop (`engine.memory.room`).
        busy_percent: 0..100.
        power_w: Watts.
        temperature_c: Degrees Celsius, edge of the chip.
    """

    pci: str
    name: str
    gfx: str | None = None
    kind: DeviceKind | None = None
    asleep: bool | None = None
    vram: Pool = Pool()
    gtt: Pool = Pool()
    room: int | None = None
    busy_percent: int | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    processes: tuple[ProcessMemory, ...] = ()


class RamMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of the host. ``available`` is what programs can still get without swapping."""

    total: int | None = None
    available: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None

    @property
    def used(self) -> int | None:
        """What cannot be had any more: total less available."""
        if self.total is None or self.available is None:
            return None
        return self.total - self.available


class WorkerGpu(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker process holds on the card ``pci``; ``evicted`` was pushed out to system memory."""

    pci: str
    vram: int | None = None
    gtt: int | None = None
    evicted: int | None = None


class WorkerMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker process holds.

    ``ram`` is private memory (part of the host's used memory), ``mapped`` are pages of mapped files such as
    the weights: these count as available, because the kernel can drop them.
    """

    pid: int
    ram: int | None = None
    mapped: int | None = None
    gpus: tuple[WorkerGpu, ...] = ()

    def on(self, pci: str) -> WorkerGpu | None:
        """Its share on the card ``pci``, or None when it holds nothing there."""
        return next((gpu for gpu in self.gpus if gpu.pci == pci), None)


class GoneGpu(msgspec.Struct, frozen=True):
    """A card that was there earlier in this session and is not now."""

    pci: str
    name: str


class MemorySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at one moment. ``taken`` is in seconds of the monotonic clock."""

    gpus: tuple[GpuMemory, ...]
    ram: RamMemory
    worker: WorkerMemory | None = None
    gone: tuple[GoneGpu, ...] = ()
    taken: float

    def gpu(self, pci: str) -> GpuMemory | None:
        """The card ``pci``, or None when it is not there."""
        return next((gpu for gpu in self.gpus if gpu.pci == pci), None)


def as_json(snapshot: MemorySnapshot) -> dict[str, object]:
    """The object that ``vramble memory --json`` prints."""
    return {"gpus": msgspec.to_builtins(snapshot.gpus), "ram": msgspec.to_builtins(snapshot.ram)}
