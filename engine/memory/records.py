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
    """GPU memory that one process holds on one card, as far as the kernel lets us see it (same user).

    Attributes:
        evicted: Part of what it wants in VRAM that was pushed out to system memory.
        ours: It is this program or was started by it.
    """

    pid: int
    name: str
    vram: int | None = None
    gtt: int | None = None
    evicted: int | None = None
    ours: bool = False

    @property
    def held(self) -> int:
        """In both memories together, as far as it is known."""
        return (self.vram or 0) + (self.gtt or 0)


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
        visible_vram: The part of ``vram`` that the processor reaches directly; all of it with a resizable BAR.
        compute_units: How many the chip has.
        bandwidth: Of its memory, bytes a second.
        busy_percent: 0..100.
        memory_busy_percent: The same of the memory controller; APUs do not tell.
        core_mhz: Clock of the shaders now.
        memory_mhz: Clock of the memory now.
        power_w: Watts, and ``power_cap_w`` what the card may take.
        temperature_c: Degrees Celsius, edge of the chip; ``junction_c`` its hottest place, ``memory_c`` the memory.
        fan_rpm: 0 is a fan that stands still; APUs have none of their own.
        processes: Who holds memory, largest first. What they do not explain belongs to the kernel, to other users, or
            to programs outside of our sandbox.
    """

    pci: str
    name: str
    gfx: str | None = None
    kind: DeviceKind | None = None
    asleep: bool | None = None
    vram: Pool = Pool()
    gtt: Pool = Pool()
    visible_vram: Pool = Pool()
    room: int | None = None
    compute_units: int | None = None
    bandwidth: float | None = None
    busy_percent: int | None = None
    memory_busy_percent: int | None = None
    core_mhz: int | None = None
    memory_mhz: int | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    temperature_c: float | None = None
    junction_c: float | None = None
    memory_c: float | None = None
    fan_rpm: int | None = None
    processes: tuple[ProcessMemory, ...] = ()


class ReportedGpu(msgspec.Struct, frozen=True, kw_only=True):
    """A graphics card of which the kernel tells nothing: what its ggml backend said when the engine started.

    ``free`` is as old as the engine's process; nobody asks again, because asking may wake sleeping cards.
    """

    id: str
    name: str
    backend: str
    pci: str | None = None
    kind: DeviceKind
    total: int | None = None
    free: int | None = None


class Zram(msgspec.Struct, frozen=True, kw_only=True):
    """Swap that is kept compressed in RAM: bytes that were put in, and RAM that they take."""

    stored: int | None = None
    taken: int | None = None


class Stall(msgspec.Struct, frozen=True, kw_only=True):
    """Pressure stall information: percent of the last ten seconds in which some, or all, tasks waited for memory."""

    some: float | None = None
    full: float | None = None


class Battery(msgspec.Struct, frozen=True, kw_only=True):
    """The batteries of the machine together. ``watts`` flow out while ``discharging``, else in."""

    percent: int | None = None
    discharging: bool | None = None
    watts: float | None = None


class RamMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of the host. ``available`` is what programs can still get without swapping.

    ``zram`` is None on a machine without it, ``stall`` on a kernel that does not measure it.
    """

    total: int | None = None
    available: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None
    zram: Zram | None = None
    stall: Stall | None = None

    @property
    def swap_used(self) -> int | None:
        """Swap that is taken, in a zram device too."""
        return Pool(self.swap_total, self.swap_free).free

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


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Private RAM of the ``processes`` of one program together. ``ours``: it is this one, without its engine."""

    name: str
    ram: int
    processes: int = 1
    ours: bool = False


class ModelShare(msgspec.Struct, frozen=True, kw_only=True):
    """What the loaded model takes on one device by the engine's own figures. ``pci`` None: in RAM, for the processor.

    ``output`` are the logits, ``image`` is the image encoder, ``draft`` the draft model. A part of the worker's memory:
    the rest of that belongs to the driver and the libraries.
    """

    pci: str | None
    weights: int = 0
    kv: int = 0
    compute: int = 0
    output: int = 0
    image: int = 0
    draft: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.kv + self.compute + self.output + self.image + self.draft


class GoneGpu(msgspec.Struct, frozen=True):
    """A card that was there earlier in this session and is not now."""

    pci: str
    name: str


class MemorySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at one moment.

    Attributes:
        reported: Cards that only the engine knows, by its word of when it started.
        battery: None without one.
        model: What the loaded model takes, for each device.
        programs: Who holds RAM, the largest first, as far as it can be seen; the engine is not among them.
        sandboxed: We see only processes of our own sandbox (Flatpak), so others cannot be named.
        taken: Seconds of the monotonic clock.
    """

    gpus: tuple[GpuMemory, ...]
    ram: RamMemory
    worker: WorkerMemory | None = None
    gone: tuple[GoneGpu, ...] = ()
    reported: tuple[ReportedGpu, ...] = ()
    battery: Battery | None = None
    model: tuple[ModelShare, ...] = ()
    programs: tuple[Program, ...] = ()
    sandboxed: bool = False
    taken: float

    def gpu(self, pci: str) -> GpuMemory | None:
        """The card ``pci``, or None when it is not there."""
        return next((gpu for gpu in self.gpus if gpu.pci == pci), None)

    def model_on(self, pci: str | None) -> ModelShare | None:
        """The model's share on the card ``pci``, or in RAM (None); None when it takes nothing there."""
        return next((share for share in self.model if share.pci == pci), None)
