"""Several answers at once: one decode call computes the next tokens of all of them.

An answer that is alone runs in its own loop, which costs nothing for what others might want; it is interrupted when
another request comes. Together, each answer that writes gets a token in each call, and what is left of the batch goes
to those that still read their prompts, in equal parts. See ADR 11.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from typing import Protocol

from engine.errors import VrambleError
from engine.protocol.frames import Failed, Finished, Forget, FromWorker, Generate, Progress, Request, Terminal
from engine.protocol.types import FinishReason
from engine.worker.cancel import Stop
from engine.worker.generator import Generator
from engine.worker.model import LoadedModel
from engine.worker.pace import Pace
from engine.worker.prompt import DECODE_OK, decode_problem
from engine.worker.sequence_batch import JointBatch
from engine.worker.templates.process import RenderCancelled, TemplateProcess

TRY_AGAIN_S = 0.5
"""After so long an answer that found no room tries again, though none of the others has ended: one may have shifted."""


class Arrivals(Protocol):
    """Where requests come from. `engine.worker.reader.Inbox` is it."""

    pause: Stop
    """Set whenever something comes that the main thread has to look at."""

    @property
    def waiting(self) -> bool:
        """Something has come that `next` has not given out yet."""

    def next(self, seconds: float | None = None) -> tuple[Request | Forget, float] | None:
        """What has come."""

    def ticket(self, request_id: int) -> Stop:
        """Set when the request is cancelled."""

    def run_alone(self, request_id: int | None) -> None:
        """Native code works for this request only, so that it may be aborted."""

    def finish(self, request_id: int | None = None) -> None:
        """The request is about to get its terminal frame."""


class Together:
    """Answers a request, and those that come meanwhile.

    Args:
        send: Takes frames, terminal ones too.
    """

    def __init__(
        self, loaded: LoadedModel, templates: TemplateProcess, arrivals: Arrivals, send: Callable[[FromWorker], None]
    ) -> None:
        self._loaded, self._templates, self._arrivals, self._send = loaded, templates, arrivals, send
        self._outside: list[Generator] = []
        """Requests that have no sequence yet, in the order they came."""

        self._inside: list[Generator] = []
        self._forgotten: list[Forget] = []
        self._pace = Pace(loaded.n_batch, polled=False)
        self._batch: JointBatch | None = None
        self._full, self._try_again = False, 0.0

    def run(self, request: Generate, taken: float) -> list[Forget]:
        """Until nothing is left to answer; what has to be forgotten now."""
        try:
            self._take(request, taken)
            while self._inside or self._outside:
                self._look_around()
                if len(self._inside) > 1:
                    self._step()
                elif self._inside:
                    self._go_alone(self._inside[0])
        except Exception:
            for answer in [*self._inside, *self._outside]:
                self._end(answer, internal(answer.id))
        finally:
            if self._batch is not None:
                self._batch.close()
        return self._forgotten

    def _look_around(self) -> None:
        """New requests, cancelled ones, and those that wait for room."""
        self._arrivals.pause.is_set = False
        while self._arrivals.waiting:
            item = self._arrivals.next(0)
            if item is None:
                break
            frame, taken = item
            if isinstance(frame, Forget):
                self._forgotten.append(frame)
            elif isinstance(frame, Generate):
                self._take(frame, taken)
        for answer in [*self._inside, *self._outside]:
            if answer.cancel.is_set:
                self._end(answer, answer.finish(FinishReason.CANCELLED))
        if self._outside and not (self._full and time.monotonic() < self._try_again):
            self._let_all_in()

    def _let_all_in(self) -> None:
        """In order; the first one that finds no room keeps the others waiting, and all are told that they wait."""
        told, self._full = self._full, False
        for answer in tuple(self._outside):
            if not self._let_in(answer):
                self._full, self._try_again = True, time.monotonic() + TRY_AGAIN_S
                break
        if self._full and not told:
            self._tell_room()

    def _tell_room(self) -> None:
        """Who is outside waits for cells that others hold."""
        for answer in self._outside:
            self._send(Progress(id=answer.id, stage="room", done=0, total=0))

    def _take(self, request: Generate, taken: float) -> None:
        ticket = self._arrivals.ticket(request.id)
        answer = Generator(self._loaded, self._templates, request, ticket, self._send, taken)
        self._outside.append(answer)

        def prepare() -> Finished | None:
            try:
                answer.prepare()
            except RenderCancelled:
                return answer.finish(FinishReason.CANCELLED)
            return None

        self._guarded(answer, prepare)

    def _let_in(self, answer: Generator) -> bool:
        """False: it has to wait for room."""
        entered = True

        def enter() -> None:
            nonlocal entered
            entered = answer.enter()

        if self._inside:
            self._settle(self._inside)
        self._guarded(answer, enter)
        if not entered or answer not in self._outside:
            return entered
        self._outside.remove(answer)
        self._inside.append(answer)
        for other in self._inside:
            other.look_for_room()
        return True

    def _go_alone(self, answer: Generator) -> None:
        arrivals = self._arrivals
        arrivals.run_alone(answer.id)
        if not arrivals.waiting:
            self._guarded(answer, lambda: answer.alone(arrivals.pause))
        arrivals.run_alone(None)

    def _settle(self, answers: list[Generator]) -> None:
        """Choose the next token where the last logits wait for it: another call would overwrite them."""
        for answer in tuple(answers):
            if not answer.feed:
                self._guarded(answer, lambda answer=answer: answer.step())  # type: ignore[misc]

    def _step(self) -> None:
        """One call for all."""
        parts = self._parts()
        if len(self._inside) < 2:
            return
        batch, rows = self._filled(parts)
        begin = time.monotonic()
        result = batch.decode(self._loaded.context)
        read = sum(len(part) for answer, part in parts if answer.reads)
        if read:
            self._pace.took(read, time.monotonic() - begin)
        if result != DECODE_OK:
            self._fail_all(result)
            return
        for (answer, part), row in zip(parts, rows, strict=True):
            answer.computed(len(part))
            if not answer.feed:
                self._guarded(answer, lambda answer=answer, row=row: answer.step(row))  # type: ignore[misc]

    def _parts(self) -> list[tuple[Generator, list[int]]]:
        """Who computes what in the next call."""
        self._settle(self._inside)
        writers = [(answer, answer.slice(len(answer.feed))) for answer in self._inside if not answer.reads]
        readers = [answer for answer in self._inside if answer.reads]
        left = min(self._loaded.n_batch - sum(len(part) for _, part in writers), self._pace.tokens)
        parts = list(writers)
        for number, answer in enumerate(readers):
            part = answer.slice(max(1, left // (len(readers) - number)))
            left -= len(part)
            parts.append((answer, part))
        return parts

    def _filled(self, parts: list[tuple[Generator, list[int]]]) -> tuple[JointBatch, list[int]]:
        if self._batch is None:
            self._batch = JointBatch(self._loaded.llama.api, self._loaded.n_batch + len(self._loaded.more) + 1)
        batch = self._batch
        batch.clear()
        rows = []
        for answer, part in parts:
            cache = answer.slot.cache
            wants_logits = len(part) == len(answer.feed)
            rows.append(batch.add(part, len(cache.tokens), cache.sequence, logits=wants_logits))
        return batch, rows

    def _fail_all(self, result: int) -> None:
        """The call failed: nobody knows for whom."""
        for answer in tuple(self._inside):
            problem = decode_problem(self._loaded, result, answer.slot.cache)
            if isinstance(problem, VrambleError):
                self._end(answer, failed(answer.id, problem))
            else:
                self._end(answer, answer.finish(FinishReason.CANCELLED))

    def _guarded(self, answer: Generator, work: Callable[[], Finished | None]) -> None:
        """Do ``work``; the answer ends with what it gives or raises."""
        try:
            end: Terminal | None = work()
        except VrambleError as error:
            end = failed(answer.id, error)
        except Exception:
            end = internal(answer.id)
        if end is not None:
            self._end(answer, end)

    def _end(self, answer: Generator, end: Terminal) -> None:
        answer.close()
        self._full = False
        for place in (self._inside, self._outside):
            if answer in place:
                place.remove(answer)
        self._arrivals.finish(answer.id)
        self._send(end)


def failed(request_id: int, error: VrambleError) -> Failed:
    """The terminal frame for an error with a sentence."""
    return Failed(id=request_id, code=error.code, message=error.message, next_step=error.next_step, detail=error.detail)


def internal(request_id: int) -> Failed:
    """The terminal frame for the bug that is being handled; it is in the log as well."""
    trace = traceback.format_exc()
    print(trace, file=sys.stderr, flush=True)
    message = "Something went wrong in the engine."
    return Failed(id=request_id, code="internal", message=message, next_step="Try again.", detail=trace)
