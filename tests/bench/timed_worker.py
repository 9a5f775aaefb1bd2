"""A worker over its protocol whose requests can be cancelled at an exact moment. Needs neither Qt nor pytest."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.client.blocking import BlockingWorker
from engine.client.calls import raise_failure
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.protocol.frames import (
    Delta,
    Devices,
    Failed,
    Finished,
    FromWorker,
    Generate,
    ListDevices,
    Load,
    Loaded,
    Request,
    Terminal,
)
from engine.protocol.types import ChatMessage, DeviceInfo, DeviceKind, FlashAttention, LoadOptions, Sampling

ALLOW_SOFTWARE = "VRAMBLE_ALLOW_SOFTWARE_GPU"
COMPUTES = frozenset({DeviceKind.CPU, DeviceKind.GPU, DeviceKind.IGPU, DeviceKind.SOFTWARE})


@dataclass(frozen=True)
class Timed:
    """One request: its events with the seconds since it was sent.

    Attributes:
        events: All events in order, the terminal one last.
        cancelled: When `Cancel` was sent; None: it was not, because the request had ended.
    """

    events: tuple[tuple[float, FromWorker], ...]
    cancelled: float | None = None

    @property
    def end(self) -> FromWorker:
        """The terminal event."""
        return self.events[-1][1]

    @property
    def seconds(self) -> float:
        """From sending to the terminal event."""
        return self.events[-1][0]

    @property
    def first_token(self) -> float | None:
        """From sending to the first text; None when there was none."""
        return next((seconds for seconds, event in self.events if isinstance(event, Delta)), None)

    @property
    def latency(self) -> float | None:
        """Seconds from the cancel to the terminal event."""
        return None if self.cancelled is None else self.seconds - self.cancelled


class TimedWorker(BlockingWorker):
    """`BlockingWorker` of this checkout, with the clock running.

    Args:
        software: Let llvmpipe and its like be used where they are named.
    """

    def __init__(self, *, software: bool = False) -> None:
        environ = {**os.environ, **({ALLOW_SOFTWARE: "1"} if software else {})}
        super().__init__(worker_command(environ=environ))
        self._due: float | None = None
        self._target = 0
        self._sent_cancel: float | None = None

    def timed(
        self,
        request: Request,
        cancel_after: float | None = None,
        on_event: Callable[[FromWorker], float | None] = lambda _event: None,
    ) -> Timed:
        """Run ``request`` to its end.

        Args:
            cancel_after: Seconds after sending at which it is cancelled.
            on_event: Sees each event; a number cancels that many seconds later.
        """
        start = time.perf_counter()
        self._aim(request.id, None if cancel_after is None else start + cancel_after)
        asked = cancel_after is not None
        events = []
        for event in self.request(request):
            events.append((time.perf_counter() - start, event))
            wait = on_event(event)
            if wait is not None and not asked:
                asked = True
                self._due = time.perf_counter() + wait
        self._due = None
        sent = None if self._sent_cancel is None else self._sent_cancel - start
        return Timed(tuple(events), sent)

    def _aim(self, target: int, due: float | None) -> None:
        self._target, self._due, self._sent_cancel = target, due, None

    def _move(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        if self._due is None:
            super()._move(process, seconds)
            return
        left = self._due - time.perf_counter()
        if left > 0:
            super()._move(process, min(seconds, left))
            return
        self._due, self._sent_cancel = None, time.perf_counter()
        self.cancel(self._target)
        super()._move(process, seconds)

    def load(self, path: Path, options: LoadOptions, cancel_after: float | None = None) -> Timed:
        """Load a model, or cancel that."""
        return self.timed(Load(id=self.next_id(), path=str(path), options=options), cancel_after)

    def loaded(self, path: Path, options: LoadOptions) -> Loaded:
        """Load a model.

        Raises:
            VrambleError: It could not be loaded.
        """
        end = self.load(path, options).end
        raise_failure(end)
        assert isinstance(end, Loaded)
        return end

    def question(self, text: str, max_tokens: int | None, seed: int = 1) -> Generate:
        """A request for one answer that is the same each time."""
        message = ChatMessage(role="user", content=text)
        return Generate(
            id=self.next_id(), messages=(message,), sampling=Sampling(seed=seed), max_tokens=max_tokens, stop=()
        )

    def finished(self, text: str, max_tokens: int | None, seed: int = 1) -> tuple[Timed, Finished]:
        """One whole answer.

        Raises:
            VrambleError: There was none.
        """
        timed = self.timed(self.question(text, max_tokens, seed))
        raise_failure(timed.end)
        assert isinstance(timed.end, Finished)
        return timed, timed.end

    def devices(self) -> Devices:
        """Devices with their memory as it is now."""
        end = self.timed(ListDevices(id=self.next_id())).end
        raise_failure(end)
        assert isinstance(end, Devices)
        return end


def was_cancelled(end: FromWorker | Terminal) -> bool:
    """Whether a request ended because it was cancelled, and by the worker's own answer."""
    if isinstance(end, Failed):
        return end.code == "cancelled"
    return isinstance(end, Finished) and end.reason.value == "cancelled"


def usable_devices(named: str | None = None, *, software: bool = False) -> list[DeviceInfo]:
    """The devices that a bench can run on, CPU first; each card once.

    Args:
        named: Only the device with this id, PCI address or kind.

    Raises:
        VrambleError: The worker cannot be started, or ``named`` is not there.
    """
    with TimedWorker(software=software) as worker:
        hello = worker.start()
    usable = [d for d in hello.devices if d.usable and d.kind in COMPUTES]
    found = [d for d in usable if named is None or named.lower() in {d.id.lower(), d.pci or "", d.kind.value}]
    if not found:
        raise VrambleError("no-device", f"No usable device {named or ''}: {[d.id for d in hello.devices]}")
    return sorted(found, key=lambda device: device.kind is not DeviceKind.CPU)


def options_for(device: DeviceInfo, n_ctx: int, **changes: object) -> LoadOptions:
    """Everything on ``device``. Mesa 22.3's llvmpipe crashes in flash attention, so it is off on software drivers."""
    name = "cpu" if device.kind is DeviceKind.CPU else device.id
    fields: dict[str, object] = {"n_ctx": n_ctx, "device": name, **changes}
    if device.kind is DeviceKind.SOFTWARE:
        fields.setdefault("flash_attention", FlashAttention.OFF)
    return LoadOptions(**fields)  # type: ignore[arg-type]
