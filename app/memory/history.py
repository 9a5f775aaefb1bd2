"""The last ten minutes of the memory figures, for a plot: few numbers of each sample, and what happened when."""

from __future__ import annotations

from collections import deque
from enum import StrEnum

import msgspec

from engine.memory.records import GpuMemory, MemorySnapshot, WorkerGpu

KEPT_S = 600.0
MOST_POINTS = 900
"""A bound for samples that come more often than once a second."""


class MarkerKind(StrEnum):
    """What happened."""

    LOAD = "load"
    ANSWER = "answer"
    UNLOAD = "unload"


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Something that explains a step in the plot.

    Attributes:
        at: Seconds, the clock of `MemorySnapshot.taken`; of an answer its begin.
        until: End of an answer; None for a moment, and for an answer that still runs.
        text: Name of the model.
    """

    at: float
    kind: MarkerKind
    text: str = ""
    until: float | None = None


class GpuPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One card in one sample; bytes, None where unknown.

    ``weights``, ``kv``, ``compute`` (with the logits), ``image`` and ``draft`` are the engine's figures for the card,
    ``ours`` is what the kernel says of all our processes in both memories, ``others`` of all other programs that we may
    see; with ``_vram`` the same in the card's own memory.
    """

    pci: str
    asleep: bool | None = None
    vram: int | None = None
    gtt: int | None = None
    weights: int = 0
    kv: int = 0
    compute: int = 0
    image: int = 0
    draft: int = 0
    ours: int | None = None
    others: int | None = None
    ours_vram: int | None = None
    others_vram: int | None = None
    busy_percent: int | None = None
    power_w: float | None = None
    temperature_c: float | None = None


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One sample. ``at`` as in `MemorySnapshot.taken`; ``worker_ram`` is the worker's private memory."""

    at: float
    gpus: tuple[GpuPoint, ...] = ()
    ram: int | None = None
    swap: int | None = None
    worker_ram: int | None = None

    def gpu(self, pci: str) -> GpuPoint | None:
        """The card ``pci``, None when it was not there."""
        return next((gpu for gpu in self.gpus if gpu.pci == pci), None)


class History:
    """A ring of points and markers, oldest first. A pause in which nobody watched is a gap in the times."""

    def __init__(self, kept_s: float = KEPT_S) -> None:
        self._kept_s = kept_s
        self._points: deque[Point] = deque(maxlen=MOST_POINTS)
        self._markers: deque[Marker] = deque(maxlen=MOST_POINTS)

    @property
    def points(self) -> tuple[Point, ...]:
        """What is kept, oldest first."""
        return tuple(self._points)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """What happened in that time, oldest first."""
        return tuple(self._markers)

    def add(self, snapshot: MemorySnapshot) -> None:
        """Keep a sample and forget what is too old."""
        self._points.append(point_of(snapshot))
        oldest = snapshot.taken - self._kept_s
        while self._points[0].at < oldest:
            self._points.popleft()
        while self._markers and _over(self._markers[0], oldest):
            self._markers.popleft()

    def mark(self, marker: Marker) -> None:
        """Something happened."""
        self._markers.append(marker)

    def begin_answer(self, at: float, text: str = "") -> None:
        """An answer runs from now on; one that ran is over."""
        self.end_answer(at)
        self.mark(Marker(at=at, kind=MarkerKind.ANSWER, text=text))

    def end_answer(self, at: float) -> None:
        """The answer that runs, if one does, has ended."""
        for place, marker in enumerate(self._markers):
            if marker.kind is MarkerKind.ANSWER and marker.until is None:
                self._markers[place] = msgspec.structs.replace(marker, until=at)


def _over(marker: Marker, oldest: float) -> bool:
    """An answer that still runs is never over."""
    if marker.kind is MarkerKind.ANSWER:
        return marker.until is not None and marker.until < oldest
    return marker.at < oldest


def point_of(snapshot: MemorySnapshot) -> Point:
    """What the plot needs of one sample."""
    worker, ram = snapshot.worker, snapshot.ram
    return Point(
        at=snapshot.taken,
        gpus=tuple(_gpu_point(gpu, snapshot) for gpu in snapshot.gpus),
        ram=ram.used,
        swap=ram.swap_used,
        worker_ram=None if worker is None else worker.ram,
    )


def _gpu_point(gpu: GpuMemory, snapshot: MemorySnapshot) -> GpuPoint:
    share = snapshot.model_on(gpu.pci)
    worker = snapshot.worker.on(gpu.pci) if snapshot.worker is not None else None
    pid = snapshot.worker.pid if snapshot.worker is not None else None
    ours = [process for process in gpu.processes if process.ours or process.pid == pid]
    others = [process for process in gpu.processes if not process.ours and process.pid != pid]
    return GpuPoint(
        pci=gpu.pci,
        asleep=gpu.asleep,
        vram=gpu.vram.used,
        gtt=gpu.gtt.used,
        weights=share.weights if share else 0,
        kv=share.kv if share else 0,
        compute=share.compute + share.output if share else 0,
        image=share.image if share else 0,
        draft=share.draft if share else 0,
        ours=sum(process.held for process in ours) if ours else _held(worker),
        others=sum(process.held for process in others) if others else None,
        ours_vram=sum(process.vram or 0 for process in ours) if ours else worker.vram if worker else None,
        others_vram=sum(process.vram or 0 for process in others) if others else None,
        busy_percent=gpu.busy_percent,
        power_w=gpu.power_w,
        temperature_c=gpu.temperature_c,
    )


def _held(worker: WorkerGpu | None) -> int | None:
    known = [part for part in (worker.vram, worker.gtt) if part is not None] if worker else []
    return sum(known) if known else None
