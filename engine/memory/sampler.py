"""One sample of everything. Lives on one thread; keeps what need not be read again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from engine.memory import host, values
from engine.memory.bandwidth import bandwidth_of, kernel_bandwidth
from engine.memory.battery import BatteryReader
from engine.memory.cards import Card, CardFinder, kind_of
from engine.memory.holders import Chip, Held, HolderReader, on_card
from engine.memory.kfd import KfdNode, Topology
from engine.memory.programs import ProgramReader
from engine.memory.records import GoneGpu, GpuMemory, MemorySnapshot, Pool, RamMemory, WorkerMemory
from engine.memory.room import room
from engine.memory.sensors import SensorReader
from engine.memory.tree import Tree, read_file
from engine.protocol.types import DeviceKind


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """One card and its memory, before it is known who holds it."""

    card: Card
    node: KfdNode | None
    kind: DeviceKind | None
    vram: Pool
    gtt: Pool
    visible: Pool


class MemorySampler:
    """Reads the machine below ``root``.

    Args:
        root: Folder that holds ``sys`` and ``proc``; ``/`` is this machine.
        clock: Seconds, monotonic.
        read: Reads one file; for tests.
        own: Process id of this program; None: this process.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        *,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[str], bytes] = read_file,
        own: int | None = None,
    ) -> None:
        self._clock = clock
        self._tree = Tree(root, read)
        self._finder = CardFinder(self._tree)
        self._topology = Topology(self._tree)
        self._sensors = SensorReader(self._tree)
        own = os.getpid() if own is None else own
        self._holders = HolderReader(self._tree, own)
        self._programs = ProgramReader(self._tree, own)
        self._host = host.HostReader(self._tree)
        self._battery = BatteryReader(self._tree)
        self._bandwidths: dict[tuple[str, KfdNode | None], float | None] = {}
        self._seen: dict[str, str] = {}

    def sample(self, worker: int | None = None, *, whole: bool = False) -> MemorySnapshot:
        """What is true now. Never raises for a file that is missing, refused or nonsense.

        Args:
            worker: Process id of the worker, whose share is told apart.
            whole: Look through all processes now, instead of a few each time.
        """
        now = self._clock()
        ram = self._host.read()
        nodes = self._topology.nodes()
        states = [self._state(card, nodes.get(card.pci)) for card in self._finder.cards()]
        chips = {state.card.pci: Chip(state.kind, state.vram) for state in states}
        held = self._holders.read(worker, nodes, chips, whole=whole)
        share = self._worker_share(worker, held)
        ours = self._holders.ours(held, worker)
        gpus = tuple(self._gpu(state, ram, held, ours, share, now) for state in states)
        self._seen.update((gpu.pci, gpu.name) for gpu in gpus)
        return MemorySnapshot(
            gpus=gpus,
            ram=ram,
            worker=share,
            gone=tuple(GoneGpu(pci, name) for pci, name in sorted(self._seen.items()) if pci not in chips),
            battery=self._battery.read(now),
            programs=self._programs.read(self._holders.pids, worker, whole=whole),
            sandboxed=self._holders.sandboxed,
            taken=now,
        )

    def _state(self, card: Card, node: KfdNode | None) -> _State:
        vram, gtt = self._pool(card, "vram"), self._pool(card, "gtt")
        kind = kind_of(card, node, vram, gtt, self._tree)
        return _State(card=card, node=node, kind=kind, vram=vram, gtt=gtt, visible=self._pool(card, "vis_vram"))

    def _gpu(
        self,
        state: _State,
        ram: RamMemory,
        held: Iterable[Held],
        ours: set[int],
        share: WorkerMemory | None,
        now: float,
    ) -> GpuMemory:
        card, node, kind = state.card, state.node, state.kind
        asleep = self._sensors.asleep(card)
        in_use = share is not None and share.on(card.pci) is not None
        sensors = self._sensors.read(card, asleep=asleep, in_use=in_use, now=now)
        return GpuMemory(
            pci=card.pci,
            name=card.name,
            gfx=(node.gfx if node else None) or card.gfx,
            kind=kind,
            asleep=asleep,
            vram=state.vram,
            gtt=state.gtt,
            visible_vram=state.visible,
            room=room(kind, state.vram, state.gtt, ram),
            compute_units=node.compute_units if node else None,
            bandwidth=self._bandwidth(card, node, kind),
            processes=on_card(card.pci, held, ours),
            **msgspec.structs.asdict(sensors),
        )

    def _bandwidth(self, card: Card, node: KfdNode | None, kind: DeviceKind | None) -> float | None:
        key = (card.pci, node)
        if key not in self._bandwidths:
            gfx = (node.gfx if node else None) or card.gfx
            told = node.bank if node else None
            found = kernel_bandwidth(*told, gfx, shared=kind is DeviceKind.IGPU) if told and kind else None
            self._bandwidths[key] = found or bandwidth_of(card.name)
        return self._bandwidths[key]

    def _pool(self, card: Card, name: str) -> Pool:
        """A memory pool by the driver's own counters, which never wake the card."""
        total = values.byte_count(self._tree.live(f"{card.path}/mem_info_{name}_total")) or None
        used = values.byte_count(self._tree.live(f"{card.path}/mem_info_{name}_used"))
        if used is not None and total is not None and used > total:
            used = None
        return Pool(total, used)

    def _worker_share(self, worker: int | None, held: Iterable[Held]) -> WorkerMemory | None:
        if worker is None:
            return None
        ram, mapped = host.process_ram(self._tree, worker)
        gpus = next((one.gpus for one in held if one.pid == worker), ())
        return WorkerMemory(pid=worker, ram=ram, mapped=mapped, gpus=gpus)
