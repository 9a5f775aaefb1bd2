"""The conversation with one worker process, without any input or output.

The driver hands in bytes, exit codes and the time; events and bytes to write come out. Whatever the worker does,
each submitted request gets exactly one terminal event, from `Session.receive` or from `Session.ended`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.client.death import WorkerDeath, describe_death
from engine.client.death_words import Verdict
from engine.client.ends import SUCCESS, failure, id_of_end, misfit, with_file
from engine.client.memory_trouble import MemoryTrouble
from engine.client.states import Phase, WorkerState, state_of
from engine.client.watch import Watch
from engine.protocol.codec import Garbage, encode, worker_output
from engine.protocol.frames import (
    PROTOCOL_VERSION,
    Cancel,
    Delta,
    Failed,
    Forget,
    FromWorker,
    Hello,
    Load,
    Loaded,
    Progress,
    Request,
    Terminal,
    Unload,
)
from engine.protocol.types import ModelInfo

__all__ = ["CANCEL_SECONDS", "HELLO_SECONDS", "Session", "Verdict", "WorkerDeath", "WorkerState"]

HELLO_SECONDS = 30.0
CANCEL_SECONDS = 2.0
CLOSED_SECONDS = 1.0


_VERDICTS: dict[int | str, Verdict] = {"hello": Verdict.NO_HELLO, "closed": Verdict.CLOSED}


class Session:
    """One worker process from start to end. A new process gets a new session.

    Attributes:
        hello: What the worker said first, or None.
        model: The loaded model, or None, also while another one is being loaded.
        verdict: Why the driver has to kill the worker, or None.
        garbage: Number of lines and frames that made no sense and were skipped.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.hello: Hello | None = None
        self.model: ModelInfo | None = None
        self.verdict: Verdict | None = None
        self.garbage = 0
        self._clock = clock
        self._phase = Phase.NEW
        self._pending: dict[int, Request] = {}
        self._cancelled: set[int] = set()
        self._decoder = worker_output()
        self._watch: Watch[int | str] = Watch()

    @property
    def state(self) -> WorkerState:
        """Follows from the process, the oldest pending request and the model."""
        return state_of(self._phase, self._pending.values(), self.model is not None)

    @property
    def pending(self) -> tuple[int, ...]:
        """Ids of the requests that have no terminal event yet, oldest first."""
        return tuple(self._pending)

    @property
    def watching(self) -> bool:
        """A time limit runs: the driver has to ask `overdue` several times a second."""
        return bool(self._watch) or self.verdict is not None

    def started(self) -> None:
        """The process is being started. `Hello` is due from now on."""
        if self._phase is not Phase.NEW:
            raise RuntimeError("a session is for one process")
        self._phase = Phase.STARTING
        self._watch.start("hello", HELLO_SECONDS, self._clock())

    def submit(self, request: Request) -> bytes:
        """Bytes to write to the worker; ``request`` is pending from now on.

        Raises:
            RuntimeError: The process is not there, or is being stopped: nothing would answer.
            ValueError: The id is in use.
        """
        if self._phase not in (Phase.STARTING, Phase.RUNNING):
            raise RuntimeError(f"no request to a worker that is {self.state}")
        if request.id in self._pending:
            raise ValueError(f"request id {request.id} is in use")
        data = encode(request)
        self._pending[request.id] = request
        self._settle()
        return data

    def cancel(self, target: int) -> bytes:
        """Bytes that ask the worker to end ``target``; empty when it has ended or was asked already.

        The worker has `CANCEL_SECONDS` for it, counted from its hello: before that it cannot listen.
        """
        if target not in self._pending or target in self._cancelled or self._phase is Phase.STOPPING:
            return b""
        self._cancelled.add(target)
        if self.hello is not None:
            self._watch.start(target, CANCEL_SECONDS, self._clock())
        return encode(Cancel(target=target))

    def forget(self, conversations: tuple[str, ...]) -> bytes:
        """Bytes that have the worker keep nothing of these conversations; empty when there is none to tell."""
        told = self._phase in (Phase.STARTING, Phase.RUNNING)
        return encode(Forget(conversations=conversations)) if told else b""

    def stopping(self) -> None:
        """The driver is ending the process on purpose: its end will be no death."""
        if self._phase in (Phase.STARTING, Phase.RUNNING):
            self._phase = Phase.STOPPING
            self._watch.clear_all()

    def receive(self, data: bytes) -> list[FromWorker]:
        """Events that ``data`` (cut anywhere) completes. What makes no sense is counted in ``garbage``."""
        events: list[FromWorker] = []
        if self._phase in (Phase.STARTING, Phase.RUNNING, Phase.STOPPING):
            for frame in self._decoder.feed(data):
                events += self._take(frame)
        return events

    def channel_closed(self) -> None:
        """The worker closed its frame channel. It is about to end; if it goes on running, `overdue` tells."""
        if self._phase in (Phase.STARTING, Phase.RUNNING):
            self._watch.start("closed", CLOSED_SECONDS, self._clock())

    def overdue(self, now: float) -> bool:
        """True: kill the worker. It gave no hello, did not answer a cancel, or speaks another protocol.

        Ask at least once a second while `watching`; longer gaps (a suspended computer) are not charged to the worker.
        """
        late = self._watch.expired(now)
        if late is not None and self.verdict is None:
            self.verdict = _VERDICTS.get(late, Verdict.NO_ANSWER)
        return self.verdict is not None and self._phase in (Phase.STARTING, Phase.RUNNING)

    def condemn(self, verdict: Verdict) -> None:
        """The driver decided that the worker has to be killed; `overdue` says so from now on."""
        if self.verdict is None and self._phase in (Phase.STARTING, Phase.RUNNING):
            self.verdict = verdict

    def ended(
        self, exit_code: int | None, signal: int | None, log_tail: str, trouble: MemoryTrouble | None = None
    ) -> tuple[WorkerDeath | None, list[Failed]]:
        """The process is gone: how it died (None when that was wanted) and one `Failed` for each pending request.

        ``trouble``: what the kernel says of the memory at that moment.
        """
        if self._phase in (Phase.NEW, Phase.STOPPED, Phase.CRASHED):
            return None, []
        wanted = self._phase is Phase.STOPPING
        self._phase = Phase.STOPPED if wanted else Phase.CRASHED
        death = None if wanted else describe_death(exit_code, signal, log_tail, self.verdict, trouble=trouble)
        if death is not None:
            death = with_file(death, next(iter(self._pending.values()), None))
        failures = [failure(id_, death, cancelled=id_ in self._cancelled) for id_ in self._pending]
        self._pending.clear()
        self._cancelled.clear()
        self._watch.clear_all()
        self.model = None
        return death, failures

    def _take(self, frame: FromWorker | Garbage) -> list[FromWorker]:
        if isinstance(frame, Hello) and self.hello is None and self.verdict is None:
            return self._greet(frame)
        if isinstance(frame, Garbage):
            return self._take_garbage(frame)
        if isinstance(frame, Hello) or self.hello is None or frame.id not in self._pending:
            self.garbage += 1
            return []
        if isinstance(frame, Progress | Delta):
            return [frame]
        return [self._finish(frame)]

    def _take_garbage(self, garbage: Garbage) -> list[FromWorker]:
        """Skip it; but the end of a request that cannot be read is an end: no other one would come."""
        self.garbage += 1
        id_ = id_of_end(garbage.line)
        if id_ is None or self.hello is None or id_ not in self._pending:
            return []
        return [self._finish(misfit(id_, garbage.reason))]

    def _greet(self, hello: Hello) -> list[FromWorker]:
        self._watch.clear("hello")
        if hello.protocol == PROTOCOL_VERSION:
            self.hello = hello
            for target in self._cancelled:
                self._watch.start(target, CANCEL_SECONDS, self._clock())
            if self._phase is Phase.STARTING:
                self._phase = Phase.RUNNING
            return [hello]
        self.verdict = Verdict.WRONG_PROTOCOL
        death = describe_death(None, None, "", self.verdict)
        detail = f"Protocol {hello.protocol} instead of {PROTOCOL_VERSION}: {hello.engine}"
        failures = [
            Failed(id=id_, code=death.code, message=death.sentence, next_step=death.next_step, detail=detail)
            for id_ in self._pending
        ]
        self._pending.clear()
        return list(failures)

    def _finish(self, event: Terminal) -> Terminal:
        request = self._pending.pop(event.id)
        self._cancelled.discard(event.id)
        self._watch.clear(event.id)
        if not isinstance(event, Failed | SUCCESS[type(request)]):
            self.garbage += 1
            event = misfit(event.id, f"{type(event).__name__} for {type(request).__name__}")
        if isinstance(event, Loaded):
            self.model = event.model
        self._settle()
        return event

    def _settle(self) -> None:
        """The oldest request is what the worker is at: a load or unload gives the model up first."""
        if isinstance(next(iter(self._pending.values()), None), Load | Unload):
            self.model = None
