"""A session with a worker that is written by hand, frame by frame, and a clock that stands still."""

from __future__ import annotations

from engine.client.session import Session
from engine.protocol.codec import encode
from engine.protocol.frames import (
    PROTOCOL_VERSION,
    TERMINAL_TYPES,
    Bench,
    Benched,
    CachesSaved,
    Devices,
    DryRan,
    DryRun,
    Finished,
    FromWorker,
    Generate,
    Hello,
    ListDevices,
    Load,
    Loaded,
    Request,
    SaveCaches,
    SelfTest,
    SelfTested,
    Terminal,
    Unload,
    Unloaded,
)
from engine.protocol.probe import Probe
from engine.protocol.types import DeviceInfo, DeviceKind, FinishReason, GenerationStats, ModelInfo

HELLO = Hello(protocol=PROTOCOL_VERSION, pid=1, engine="peer")
DEVICE = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="p",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=None,
    memory_free=None,
    usable=True,
)
MODEL = ModelInfo(
    path="/m.gguf",
    name="m",
    architecture="llama",
    quant="Q4_0",
    n_params=1,
    size_bytes=1,
    n_ctx=1,
    n_ctx_train=1,
    n_layers=1,
    gpu_layers=0,
    device=DEVICE,
)
KINDS: tuple[type[Request], ...] = (Load, Unload, Generate, ListDevices, SelfTest, DryRun, Bench, SaveCaches)


def request(kind: type[Request], id_: int) -> Request:
    """A request of a kind."""
    if kind is Load:
        return Load(id=id_, path="/m.gguf")
    if kind is DryRun:
        return DryRun(id=id_, path="/m.gguf")
    if kind is Generate:
        return Generate(id=id_, messages=())
    return kind(id=id_)  # type: ignore[call-arg]


def success(kind: type[Request], id_: int) -> Terminal:
    """The terminal event of a request that went well."""
    if kind is Load:
        return Loaded(id=id_, model=MODEL, seconds=1.0)
    if kind is Generate:
        return Finished(id=id_, reason=FinishReason.STOP, stats=GenerationStats())
    if kind is ListDevices:
        return Devices(id=id_, backends=(), devices=())
    if kind is SelfTest:
        return SelfTested(id=id_, probe=Probe(), seconds=0.1)
    if kind is DryRun:
        return DryRan(id=id_)
    if kind is Bench:
        return Benched(id=id_)
    if kind is SaveCaches:
        return CachesSaved(id=id_, complete=True)
    return Unloaded(id=id_)


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Peer:
    """The session under test and what it gave out."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.session = Session(self.clock)
        self.events: list[FromWorker] = []

    def say(self, *frames: FromWorker) -> None:
        """The worker writes frames."""
        self.bytes(b"".join(encode(frame) for frame in frames))

    def bytes(self, data: bytes) -> None:
        """The worker writes anything."""
        self.events += self.session.receive(data)

    def die(self, exit_code: int | None = None, signal: int | None = 11) -> None:
        """The process ends."""
        _, failures = self.session.ended(exit_code, signal, "")
        self.events += failures

    def wait(self, seconds: float, look: float = 0.25) -> bool:
        """Time passes, looked at often. True: the worker has to be killed."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = min(self.clock.now + look, end)
            if self.session.overdue(self.clock.now):
                return True
        return False

    def ends(self, id_: int) -> list[FromWorker]:
        """The terminal events of one request."""
        return [e for e in self.events if isinstance(e, TERMINAL_TYPES) and e.id == id_]


def running() -> Peer:
    """A peer that has said hello."""
    peer = Peer()
    peer.session.started()
    peer.say(HELLO)
    return peer


def with_model() -> Peer:
    """A peer that has a model loaded."""
    peer = running()
    peer.session.submit(Load(id=1, path="/m.gguf"))
    peer.say(success(Load, 1))
    peer.events.clear()
    return peer
