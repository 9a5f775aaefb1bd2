"""What loads on this machine taught: how far the kernel's figure is from the forecast, by card, backend and driver.

A driver takes memory that llama.cpp does not know of (compiled shaders, command and staging buffers, padding). That
is partly the same for each model and partly grows with it, so what is learned is a line, with tight bounds: a wrong
measurement must not turn a model away.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from engine.memory.fit.records import DeviceUse, FitPlan, LearnedBytes
from engine.memory.records import WorkerGpu, WorkerMemory
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse

KEPT: Final = 24
"""Newest loads that count for one key."""

KEPT_KEYS: Final = 32

_MOST_SHARE: Final = 0.25
_LEAST_SHARE: Final = -0.10
_MOST_EXTRA: Final = 768 << 20
_LEAST_EXTRA: Final = -(128 << 20)
_SPREAD: Final = 2.0
"""The largest load must be so many times the smallest before a share of the size is told from a fixed amount."""

_FOR_A_LINE: Final = 4


class LoadKey(msgspec.Struct, frozen=True, kw_only=True):
    """What a correction is for. ``driver`` is any text that changes with the driver."""

    card: str
    backend: str
    driver: str = ""


class LoadRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One load on one device: bytes by the forecast, and what the kernel says that the worker holds."""

    key: LoadKey
    predicted: int
    measured: int


class FitHistory(msgspec.Struct, frozen=True):
    """All that was learned, oldest first. ``ram``: bytes a second that this computer's RAM gives, as measured."""

    records: tuple[LoadRecord, ...] = ()
    ram: float | None = None

    def of(self, key: LoadKey) -> tuple[LoadRecord, ...]:
        """The records that count for ``key``."""
        return tuple(record for record in self.records if record.key == key)[-KEPT:]

    def without(self, keys: Iterable[LoadKey]) -> FitHistory:
        """Without what was learned for ``keys``, whatever the driver."""
        gone = {(key.card, key.backend) for key in keys}
        kept = tuple(old for old in self.records if (old.key.card, old.key.backend) not in gone)
        return FitHistory(kept, self.ram)

    def with_record(self, record: LoadRecord) -> FitHistory:
        """With one load more; old ones are forgotten."""
        others = [old for old in self.records if old.key != record.key]
        keys = list(dict.fromkeys(old.key for old in reversed(others)))[: KEPT_KEYS - 1]
        kept = [old for old in others if old.key in keys]
        return FitHistory((*kept, *(*self.of(record.key), record)[-KEPT:]), self.ram)


def learned(records: Sequence[LoadRecord]) -> LearnedBytes | None:
    """The correction that ``records`` of one key teach; None without any.

    One load moves it half of the way, two two thirds and so on: the forecast itself counts as one more.
    """
    usable = [record for record in records if record.predicted > 0 and record.measured > 0]
    if not usable:
        return None
    share = _share(usable)
    extra = statistics.median(record.measured - record.predicted * (1 + share) for record in usable)
    trust = len(usable) / (len(usable) + 1)
    return LearnedBytes(
        share=_bounded(share, _LEAST_SHARE, _MOST_SHARE) * trust,
        extra=round(_bounded(extra, _LEAST_EXTRA, _MOST_EXTRA) * trust),
        loads=len(usable),
    )


def _share(records: Sequence[LoadRecord]) -> float:
    """The middle one of the slopes between all pairs (Theil and Sen): single wrong loads do not move it."""
    sizes = [record.predicted for record in records]
    if len(records) < _FOR_A_LINE or max(sizes) < _SPREAD * min(sizes):
        return 0.0
    pairs = [(a, b) for number, a in enumerate(records) for b in records[:number] if a.predicted != b.predicted]
    slopes = [(a.measured - b.measured) / (a.predicted - b.predicted) for a, b in pairs]
    return _bounded(statistics.median(slopes) - 1.0, _LEAST_SHARE, _MOST_SHARE)


def _bounded(value: float, low: float, high: float) -> float:
    return min(high, max(low, value))


def key_of(device: DeviceInfo) -> LoadKey:
    """What a correction for ``device`` is kept under."""
    return LoadKey(card=device.pci or device.name, backend=device.backend, driver=device.driver)


def records_of(
    plan: FitPlan, devices: Sequence[DeviceInfo], worker: WorkerMemory, told: Sequence[MemoryUse] = ()
) -> tuple[LoadRecord, ...]:
    """What a load taught, one record for each GPU.

    The kernel's figure counts. Where it has none for a card (other vendors), it is llama.cpp's own report, which knows
    nothing of the driver, but where the forecast was wrong.

    Args:
        plan: The forecast for the options that were loaded.
        devices: Of the load (`ModelInfo.devices`).
        worker: What the worker holds after the load, and held nothing of before.
        told: llama.cpp's report (`ModelInfo.memory`).
    """
    found = []
    for device in devices:
        use = next((use for use in plan.uses if use.device == device.id), None)
        if use is None or use.kind not in (DeviceKind.GPU, DeviceKind.IGPU):
            continue
        gpu = worker.on(device.pci) if device.pci else None
        if gpu is not None:
            predicted, measured = _predicted(use, plan), None if gpu.evicted else _measured(device, gpu)
        else:
            predicted, measured = use.total - use.learned, _told(device, told)
        if measured:
            found.append(LoadRecord(key=key_of(device), predicted=predicted, measured=measured))
    return tuple(found)


def _told(device: DeviceInfo, told: Sequence[MemoryUse]) -> int:
    return sum(use.total for use in told if use.device == device.id)


def _measured(device: DeviceInfo, gpu: WorkerGpu) -> int | None:
    """A card of its own: what lies in its memory. An APU's share of the RAM counts as well."""
    if device.kind is DeviceKind.GPU:
        return gpu.vram
    return None if gpu.vram is None or gpu.gtt is None else gpu.vram + gpu.gtt


def _predicted(use: DeviceUse, plan: FitPlan) -> int:
    """An APU's driver also holds what lies in RAM for the processor (buffers of the host type, weights not mapped)."""
    own = use.total - use.learned
    if use.kind is DeviceKind.GPU:
        return own
    return own + sum(other.total - other.learned for other in plan.uses if other.kind is DeviceKind.CPU)
