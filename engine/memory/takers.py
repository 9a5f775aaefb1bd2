"""Which other program took memory lately, such as a game that was started. Pure."""

from __future__ import annotations

from collections import deque

import msgspec

from engine.memory.records import GpuMemory, MemorySnapshot

GROWN_LEAST = 512 << 20
"""A program that took so much within `WINDOW_S` is worth naming."""

WINDOW_S = 120.0
APART_S = 0.9
"""Samples that come faster are not all kept."""


class Taker(msgspec.Struct, frozen=True):
    """Another program that took GPU memory, or (``ram``) memory of its own.

    No name when it cannot be seen (other users, outside a sandbox).
    """

    name: str
    grew: int
    ram: bool = False


class _Moment(msgspec.Struct, frozen=True):
    """Bytes that others than we held by the cards' counters, and what each process that can be seen held; the same of
    the RAM, by program."""

    at: float
    others: int
    each: dict[int, int]
    ram: int
    programs: dict[str, int]


class TakerTrace:
    """Remembers two minutes of samples.

    A process may be found some seconds after it took memory, and long after its start: what counts is that the cards'
    own counters grew. The name is that of the process that grew most meanwhile.
    """

    def __init__(self) -> None:
        self._moments: deque[_Moment] = deque()

    def take(self, snapshot: MemorySnapshot) -> Taker | None:
        """Who took memory up to this sample; None when nobody took much."""
        each: dict[int, int] = {}
        names: dict[int, str] = {}
        for process in (process for gpu in snapshot.gpus for process in gpu.processes if not process.ours):
            each[process.pid] = each.get(process.pid, 0) + process.held
            names[process.pid] = process.name
        programs = {program.name: program.ram for program in snapshot.programs if not program.ours}
        others = sum(_others(gpu) for gpu in snapshot.gpus)
        now = _Moment(snapshot.taken, others, each, _ram_of_others(snapshot), programs)
        self._keep(now)
        grew = now.others - min(moment.others for moment in self._moments)
        if grew < GROWN_LEAST:
            return self._of_ram(now)
        growth = {pid: size - min(moment.each.get(pid, 0) for moment in self._moments) for pid, size in each.items()}
        most = max(growth, key=lambda pid: growth[pid], default=None)
        if most is None or growth[most] < GROWN_LEAST:
            return Taker("", grew)
        return Taker(names[most], min(grew, growth[most]))

    def _of_ram(self, now: _Moment) -> Taker | None:
        """Who took RAM; only a program that can be named, because much else is done with it."""
        grew = now.ram - min(moment.ram for moment in self._moments)
        before = {name: min(moment.programs.get(name, 0) for moment in self._moments) for name in now.programs}
        most = max(now.programs, key=lambda name: now.programs[name] - before[name], default=None)
        if most is None:
            return None
        took = min(grew, now.programs[most] - before[most])
        return Taker(most, took, ram=True) if took >= GROWN_LEAST else None

    def _keep(self, now: _Moment) -> None:
        if not self._moments or now.at - self._moments[-1].at >= APART_S:
            self._moments.append(now)
        while now.at - self._moments[0].at > WINDOW_S:
            self._moments.popleft()


def _ram_of_others(snapshot: MemorySnapshot) -> int:
    ours = sum(program.ram for program in snapshot.programs if program.ours)
    worker = snapshot.worker.ram if snapshot.worker is not None else None
    return max(0, (snapshot.ram.used or 0) - (worker or 0) - ours)


def _others(gpu: GpuMemory) -> int:
    used = (gpu.vram.used or 0) + (gpu.gtt.used or 0)
    return max(0, used - sum(process.held for process in gpu.processes if process.ours))
