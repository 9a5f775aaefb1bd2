"""Who holds how much on which card: what the DRM files tell, and beside them the KFD's count of compute processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from engine.memory.kfd import KfdNode, KfdProcesses
from engine.memory.processes import Holder, ProcessScanner
from engine.memory.records import Pool, ProcessMemory, WorkerGpu
from engine.memory.tree import Tree
from engine.memory.values import printable
from engine.protocol.types import DeviceKind

MOST_PARENTS = 32
FLATPAK_INFO = ".flatpak-info"


class Held(msgspec.Struct, frozen=True):
    """One process and its memory on each card."""

    pid: int
    name: str
    gpus: tuple[WorkerGpu, ...]


class Chip(msgspec.Struct, frozen=True):
    """What has to be known of a card to say where compute memory lies."""

    kind: DeviceKind | None
    vram: Pool


class Family:
    """Which processes are this program or were started by it. An answer is kept while the process holds memory."""

    def __init__(self, tree: Tree, own: int) -> None:
        self._tree, self._own = tree, own
        self._worker: int | None = None
        self._known: dict[int, bool] = {}

    def ours(self, pids: Iterable[int], worker: int | None) -> set[int]:
        """Those of ``pids`` that belong to us."""
        if worker != self._worker:
            self._worker, self._known = worker, {}
        known = self._known
        self._known = {pid: known[pid] if pid in known else self._descends(pid, worker) for pid in pids}
        return {pid for pid, ours in self._known.items() if ours}

    def _descends(self, pid: int, worker: int | None) -> bool:
        for _ in range(MOST_PARENTS):
            if pid in (self._own, worker):
                return True
            if pid <= 1:
                return False
            pid = parent(self._tree.passing(f"proc/{pid}/stat")) or 0
        return False


def parent(stat: str | None) -> int | None:
    """Process id of the parent from ``/proc/<pid>/stat``; the name in it may hold anything."""
    words = (stat or "").rpartition(")")[2].split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 11 else None


class HolderReader:
    """Finds the holders of GPU memory; keeps what it learned between samples.

    Args:
        own: Process id of this program.
    """

    def __init__(self, tree: Tree, own: int) -> None:
        self._tree = tree
        self._scanner = ProcessScanner(tree)
        self._compute = KfdProcesses(tree)
        self._family = Family(tree, own)
        self._strangers: dict[int, str] = {}
        self.sandboxed = tree.exists(FLATPAK_INFO)

    def read(
        self, worker: int | None, nodes: Mapping[str, KfdNode], cards: Mapping[str, Chip], *, whole: bool
    ) -> list[Held]:
        """Every holder that can be seen; its memory as the DRM files tell it, completed by the KFD's count."""
        found = {h.pid: Held(h.pid, h.name, sums(h)) for h in self._scanner.scan(worker, whole=whole)}
        # In a sandbox our process ids are others than those that the KFD names.
        counted = {} if self.sandboxed else self._compute.vram(nodes)
        for pid, sizes in counted.items():
            held = found.get(pid) or Held(pid, self._name(pid), ())
            found[pid] = Held(pid, held.name, completed(held.gpus, sizes, cards))
        self._strangers = {pid: name for pid, name in self._strangers.items() if pid in counted}
        return list(found.values())

    @property
    def pids(self) -> frozenset[int]:
        """All processes of the last reading."""
        return self._scanner.pids

    def ours(self, held: Iterable[Held], worker: int | None) -> set[int]:
        """Process ids of those that belong to this program."""
        return self._family.ours((one.pid for one in held), worker)

    def _name(self, pid: int) -> str:
        if pid not in self._strangers:
            self._strangers[pid] = printable(self._tree.passing(f"proc/{pid}/comm"))
        return self._strangers[pid]


def sums(holder: Holder) -> tuple[WorkerGpu, ...]:
    """What the DRM clients of a process hold on each card."""
    return tuple(
        WorkerGpu(
            pci=pci,
            vram=_total(use.vram for use in holder.clients if use.pci == pci),
            gtt=_total(use.gtt for use in holder.clients if use.pci == pci),
            evicted=_total(use.evicted for use in holder.clients if use.pci == pci),
        )
        for pci in sorted({use.pci for use in holder.clients})
    )


def completed(
    gpus: tuple[WorkerGpu, ...], counted: Mapping[str, int], cards: Mapping[str, Chip]
) -> tuple[WorkerGpu, ...]:
    """The figures of the DRM files with what the KFD counts beyond them.

    Newer kernels tell compute memory in the DRM files too, so it is never added: what is missing there is filled up.
    """
    by_pci = {gpu.pci: gpu for gpu in gpus}
    for pci, size in counted.items():
        by_pci[pci] = _filled(by_pci.get(pci) or WorkerGpu(pci=pci), size, cards.get(pci) or Chip(None, Pool()))
    return tuple(by_pci[pci] for pci in sorted(by_pci))


def _filled(gpu: WorkerGpu, size: int, card: Chip) -> WorkerGpu:
    """On an APU the KFD counts as VRAM what it placed in GTT, so both are compared; and no more than the carve-out
    has in use can lie there."""
    vram, gtt = gpu.vram or 0, gpu.gtt or 0
    if card.kind is not DeviceKind.IGPU:
        return msgspec.structs.replace(gpu, vram=max(vram, size))
    missing = max(0, size - vram - gtt)
    if not missing:
        return gpu
    fits = missing if card.vram.used is None else min(missing, max(0, card.vram.used - vram))
    return msgspec.structs.replace(gpu, vram=vram + fits, gtt=gtt + missing - fits)


def on_card(pci: str, held: Iterable[Held], ours: set[int]) -> tuple[ProcessMemory, ...]:
    """Holders of memory on one card, largest first."""
    found = [
        ProcessMemory(pid=one.pid, name=one.name, vram=gpu.vram, gtt=gpu.gtt, evicted=gpu.evicted, ours=one.pid in ours)
        for one in held
        for gpu in one.gpus
        if gpu.pci == pci and (gpu.vram or gpu.gtt)
    ]
    return tuple(sorted(found, key=lambda process: (-process.held, process.pid)))


def _total(parts: Iterable[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
