"""Frames that come from the worker."""

from __future__ import annotations

import msgspec

from engine.protocol.answers import FinishReason, GenerationStats
from engine.protocol.bench import BenchSample
from engine.protocol.devices import BackendInfo, DeviceInfo
from engine.protocol.model_info import MemoryUse, ModelInfo
from engine.protocol.probe import Probe


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """First event of a worker: it is ready for requests."""

    protocol: int
    pid: int
    engine: str
    """Version of the bindings, such as ``llama-cpp-python 0.3.36``."""
    backends: tuple[BackendInfo, ...] = ()
    devices: tuple[DeviceInfo, ...] = ()
    amd_cards: int | None = None
    """AMD graphics cards that the kernel knows, whether or not a backend sees them; None unknown."""


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """State of a running request. ``stage`` load: parts of 1000; prompt: tokens; bench: tokens; room: an answer waits
    for cells of the context that others hold, without figures."""

    id: int
    stage: str
    done: int
    total: int


class Delta(msgspec.Struct, frozen=True, kw_only=True, tag="delta"):
    """Text that was generated since the last delta: always whole characters.

    ``tokens`` counts all tokens generated so far, ``tps`` is the present decode speed. ``thinking`` comes before
    ``text``: what the model thinks before it answers, without its tags.
    """

    id: int
    text: str
    tokens: int = 0
    tps: float = 0.0
    thinking: str = ""


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """Terminal event of `Load`."""

    id: int
    model: ModelInfo
    seconds: float


class Unloaded(msgspec.Struct, frozen=True, kw_only=True, tag="unloaded"):
    """Terminal event of `Unload`."""

    id: int


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag="finished"):
    """Terminal event of `Generate`. ``thinking_open``: it ended in the middle of a thought."""

    id: int
    reason: FinishReason
    stats: GenerationStats
    thinking_open: bool = False


class Devices(msgspec.Struct, frozen=True, kw_only=True, tag="devices"):
    """Terminal event of `ListDevices`."""

    id: int
    backends: tuple[BackendInfo, ...]
    devices: tuple[DeviceInfo, ...]


class SelfTested(msgspec.Struct, frozen=True, kw_only=True, tag="self_tested"):
    """Terminal event of `SelfTest`. What it means: `engine.client.agreement`."""

    id: int
    probe: Probe
    seconds: float


class DryRan(msgspec.Struct, frozen=True, kw_only=True, tag="dry_ran"):
    """Terminal event of `DryRun`: ``memory`` holds compute and output buffers only, ``caches`` is the sum of all."""

    id: int
    memory: tuple[MemoryUse, ...] = ()
    caches: int = 0
    gpu_layers: int = 0
    flash_attention: bool | None = None
    seconds: float = 0.0


class Benched(msgspec.Struct, frozen=True, kw_only=True, tag="benched"):
    """Terminal event of `Bench`.

    Attributes:
        sample: What a test took; empty without one.
        ram: Bytes a second that a copy in RAM moved, read and written ones counted; None when not asked for.
        driver: Files of the graphics driver with their dates, "" for the CPU.
    """

    id: int
    sample: BenchSample = BenchSample()
    ram: float | None = None
    driver: str = ""


class CachesSaved(msgspec.Struct, frozen=True, kw_only=True, tag="caches_saved"):
    """Terminal event of `SaveCaches`. ``complete``: nothing is left to write; false: cancelled, or out of time."""

    id: int
    complete: bool


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Terminal event of any request that did not succeed. Fields as in `engine.errors.VrambleError`."""

    id: int
    code: str
    message: str
    next_step: str = ""
    detail: str = ""


Terminal = Loaded | Unloaded | Finished | Devices | SelfTested | DryRan | Benched | CachesSaved | Failed
FromWorker = Hello | Progress | Delta | Terminal

TERMINAL_TYPES = (Loaded, Unloaded, Finished, Devices, SelfTested, DryRan, Benched, CachesSaved, Failed)
