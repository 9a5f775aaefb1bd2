"""The frames. Requests go to the worker, events come back.

Each `Load`, `Unload`, `Generate`, `ListDevices`, `SelfTest`, `DryRun`, `Bench` and `SaveCaches` carries an id and gets
exactly one terminal event with the same id: its own success event (`Loaded`, `Unloaded`, `Finished`, `Devices`,
`SelfTested`, `DryRan`, `Benched`, `CachesSaved`) or `Failed` (a cancelled load ends in `Failed` with code
``cancelled``; a cancelled answer ends in `Finished` with reason ``cancelled``, because its text and figures are kept).
`Cancel` is no request: it has no id of its own and no answer but the terminal event of its target, and it is ignored
when the target has already ended.
"""

from __future__ import annotations

import msgspec

from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.caching import CachePolicy, Overflow
from engine.protocol.probe import Probe, Reference
from engine.protocol.types import (
    BackendInfo,
    ChatMessage,
    DeviceInfo,
    FinishReason,
    GenerationStats,
    LoadOptions,
    MemoryUse,
    ModelInfo,
    Sampling,
    Thinking,
)

PROTOCOL_VERSION = 1


class Load(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """Load a GGUF file; a loaded model is unloaded first."""

    id: int
    path: str
    options: LoadOptions = LoadOptions()
    cache: CachePolicy = CachePolicy()


class Unload(msgspec.Struct, frozen=True, kw_only=True, tag="unload"):
    """Free the loaded model. Succeeds when there is none."""

    id: int


class Generate(msgspec.Struct, frozen=True, kw_only=True, tag="generate"):
    """Answer the conversation.

    Attributes:
        max_tokens: None: up to the end of the context. Tokens of the thought count.
        stop: Texts that end the answer; in a thought they are just text.
        prefill: The beginning of the answer, which the model goes on with; the deltas hold only what is new.
        prefill_thinking: The thought before ``prefill``; without one the model goes on with the thought.
        conversation: Name of the conversation; its KV cache is kept by that, see `CachePolicy`. "": by no name.
        temporary: Nothing of it goes to a disk.
        overflow: What happens when the context is full.
        endless: Tokens that end the turn are never chosen; for measuring, as llama.cpp's ``--ignore-eos``.
    """

    id: int
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    thinking: Thinking = Thinking()
    prefill: str = ""
    prefill_thinking: str = ""
    conversation: str = ""
    temporary: bool = False
    overflow: Overflow = Overflow.STOP
    endless: bool = False


class ListDevices(msgspec.Struct, frozen=True, kw_only=True, tag="list_devices"):
    """Ask again for backends and devices, with memory as it is now (wakes sleeping GPUs)."""

    id: int


class SelfTest(msgspec.Struct, frozen=True, kw_only=True, tag="self_test"):
    """Read off what the loaded model expects at some places of a text; its context is empty before and after.

    With ``reference`` the CPU computes what a device has computed, straight from the file. That is for a worker which
    does nothing else: it takes the lowest priority and holds no model.
    """

    id: int
    reference: Reference | None = None


class DryRun(msgspec.Struct, frozen=True, kw_only=True, tag="dry_run"):
    """Simulate a load: nothing but the header of ``path`` is read, and the loaded model stays.

    For a worker of its own, because llama.cpp may abort on options that no device can take.
    """

    id: int
    path: str
    options: LoadOptions = LoadOptions()


class Bench(msgspec.Struct, frozen=True, kw_only=True, tag="bench"):
    """Time one run of ``test`` with the loaded model; what its context held is lost.

    Without a ``test`` the speed of this computer's RAM is measured, and no model is needed.
    """

    id: int
    test: BenchTest | None = None
    warm: bool = False
    """The warm-up is left out: the last request of this model was the same test."""
    begun: bool = False
    """The last request of this model was a test as well, so its tokens may serve this one."""


class SaveCaches(msgspec.Struct, frozen=True, kw_only=True, tag="save_caches"):
    """Write what is kept of conversations to the disk, as far as `CachePolicy` wants it there: the model is to go.

    Attributes:
        seconds: The most it may take.
    """

    id: int
    seconds: float = 10.0


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """End the request ``target`` as soon as possible."""

    target: int


class Forget(msgspec.Struct, frozen=True, kw_only=True, tag="forget"):
    """Keep nothing of these conversations any more, in memory or on the disk. Has no answer; waits for what runs."""

    conversations: tuple[str, ...]


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


Request = Load | Unload | Generate | ListDevices | SelfTest | DryRun | Bench | SaveCaches
ToWorker = Load | Unload | Generate | ListDevices | SelfTest | DryRun | Bench | SaveCaches | Cancel | Forget
Terminal = Loaded | Unloaded | Finished | Devices | SelfTested | DryRan | Benched | CachesSaved | Failed
FromWorker = Hello | Progress | Delta | Terminal

TERMINAL_TYPES = (Loaded, Unloaded, Finished, Devices, SelfTested, DryRan, Benched, CachesSaved, Failed)
