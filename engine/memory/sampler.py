"""One sample of everything. Lives on one thread; keeps what need not be read again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.memory import host, values
from engine.memory.cards import Card, CardFinder, kind_of
from engine.memory.kfd import KfdNode, Topology
from engine.memory.processes import Holder, ProcessScanner
from engine.memory.records import (
    GoneGpu,
    GpuMemory,
    MemorySnapshot,
    Pool,
    ProcessMemory,
    RamMemory,
    WorkerGpu,
    WorkerMemory,
)
from engine.memory.room import room
from engine.memory.sensors import SensorReader
from engine.memory.tree import Tree, read_file


class MemorySampler:
    """Reads the machine below ``root``.

    Args:
        root: Folder that holds ``sys`` and ``proc``; ``/`` is this machine.
        clock: Seconds, monotonic.
        read: Reads one file; for tests.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        *,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[str], bytes] = read_file,
    ) -> None:
        self._clock = clock
        self._tree = Tree(root, read)
        self._finder = CardFinder(self._tree)
        self._topology = Topology(self._tree)
        self._sensors = SensorReader(self._tree)
        self._scanner = ProcessScanner(self._tree)
        self._seen: dict[str, str] = {}

    def sample(self, worker: int | None = None, *, whole: bool = False) -> MemorySnapshot:
        """What is true now. Never raises for a file that is missing, refused or nonsense.

        Args:
            worker: Process id of the worker, whose share is told apart.
            whole: Look through all processes now, instead of a few each time.
        """
        now = self._clock()
        ram = host.read_ram(self._tree)
        holders = self._scanner.scan(worker, whole=whole)
        share = self._worker_share(worker, holders)
        nodes = self._topology.nodes()
        gpus = tuple(self._gpu(card, nodes.get(card.pci), ram, holders, share, now) for card in self._finder.cards())
        self._seen.update((gpu.pci, gpu.name) for gpu in gpus)
        present = {gpu.pci for gpu in gpus}
        gone = tuple(GoneGpu(pci, name) for pci, name in sorted(self._seen.items()) if pci not in present)
        return MemorySnapshot(gpus=gpus, ram=ram, worker=share, gone=gone, taken=now)

    def _gpu(
        self,
        card: Card,
        node: KfdNode | None,
        ram: RamMemory,
        holders: list[Holder],
        share: WorkerMemory | None,
        now: float,
    ) -> GpuMemory:
        vram, gtt = self._pool(card, "vram"), self._pool(card, "gtt")
        kind = kind_of(card, node, vram, gtt, self._tree)
        asleep = self._sensors.asleep(card)
        in_use = share is not None and share.on(card.pci) is not None
        sensors = self._sensors.read(card, asleep=asleep, in_use=in_use, now=now)
        return GpuMemory(
            pci=card.pci,
            name=card.name,
            gfx=(node.gfx if node else None) or card.gfx,
            kind=kind,
            asleep=asleep,
            vram=vram,
            gtt=gtt,
            room=room(kind, vram, gtt, ram),
            busy_percent=sensors.busy_percent,
            power_w=sensors.power_w,
            temperature_c=sensors.temperature_c,
            processes=_processes(card.pci, holders),
        )

    def _pool(self, card: Card, name: str) -> Pool:
        """A memory pool by the driver's own counters, which never wake the card."""
        total = values.byte_count(self._tree.text(f"{card.path}/mem_info_{name}_total")) or None
        used = values.byte_count(self._tree.text(f"{card.path}/mem_info_{name}_used"))
        if used is not None and total is not None and used > total:
            used = None
        return Pool(total, used)

    def _worker_share(self, worker: int | None, holders: list[Holder]) -> WorkerMemory | None:
        if worker is None:
            return None
        ram, mapped = host.process_ram(self._tree, worker)
        gpus = tuple(_sums(holder) for holder in holders if holder.pid == worker)
        return WorkerMemory(pid=worker, ram=ram, mapped=mapped, gpus=gpus[0] if gpus else ())


def _sums(holder: Holder) -> tuple[WorkerGpu, ...]:
    """What a process holds on each card."""
    return tuple(
        WorkerGpu(
            pci=pci,
            vram=_total(use.vram for use in holder.clients if use.pci == pci),
            gtt=_total(use.gtt for use in holder.clients if use.pci == pci),
            evicted=_total(use.evicted for use in holder.clients if use.pci == pci),
        )
        for pci in sorted({use.pci for use in holder.clients})
    )


def _processes(pci: str, holders: list[Holder]) -> tuple[ProcessMemory, ...]:
    """Holders of memory on one card, largest first."""
    found = [
        ProcessMemory(pid=holder.pid, name=holder.name, vram=gpu.vram, gtt=gpu.gtt)
        for holder in holders
        for gpu in _sums(holder)
        if gpu.pci == pci and (gpu.vram or gpu.gtt)
    ]
    return tuple(sorted(found, key=lambda process: (-(process.vram or 0) - (process.gtt or 0), process.pid)))


def _total(parts: Iterable[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
