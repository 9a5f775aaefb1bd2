"""One answer: prompt, then token by token until something ends it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import VrambleError
from engine.protocol.frames import Finished, FromWorker, Generate, Progress
from engine.protocol.types import FinishReason, GenerationStats
from engine.worker.cancel import CancelFlag
from engine.worker.model import LoadedModel
from engine.worker.output import DeltaWriter
from engine.worker.picker import Picker
from engine.worker.prompt import DECODE_ABORTED, DECODE_OK, PromptCancelled, decode_problem, evaluate, prompt_tokens
from engine.worker.sampler import Sampler
from engine.worker.stops import StopMatcher
from engine.worker.templates.process import RenderCancelled, TemplateProcess
from engine.worker.utf8 import Utf8Stream


@dataclass
class Timing:
    """Moments of one answer, monotonic seconds; 0 when they did not come."""

    taken: float
    prompt_begin: float = 0.0
    prompt_end: float = 0.0
    first: float = 0.0
    last: float = 0.0


class Generator:
    """Answers one request on a loaded model."""

    def __init__(
        self,
        loaded: LoadedModel,
        templates: TemplateProcess,
        request: Generate,
        cancel: CancelFlag,
        send: Callable[[FromWorker], None],
        taken: float,
    ) -> None:
        self._loaded = loaded
        self._templates = templates
        self._request = request
        self._cancel = cancel
        self._send = send
        self._timing = Timing(taken)
        self._prompt: list[int] = []
        self._reused = 0
        self._generated = 0

    def run(self) -> Finished:
        """The answer as deltas, and its terminal frame.

        Raises:
            VrambleError: ``bad-limit`` and what `prompt_tokens` and `evaluate` raise.
        """
        limit = self._request.max_tokens
        if limit is not None and limit < 1:
            raise VrambleError("bad-limit", "The answer must be allowed at least one token.")
        loaded = self._loaded
        sampler = Sampler(loaded.llama, self._request.sampling, n_vocab=loaded.vocabulary.size, n_ctx=loaded.info.n_ctx)
        try:
            return self._finished(self._answer(sampler))
        except (PromptCancelled, RenderCancelled):
            return self._finished(FinishReason.CANCELLED)
        finally:
            sampler.close()

    def _answer(self, sampler: Sampler) -> FinishReason:
        self._prompt = prompt_tokens(self._loaded, self._templates, self._request.messages, self._cancel)
        self._timing.prompt_begin = time.monotonic()
        self._reused = evaluate(self._loaded, self._prompt, self._cancel, self._prompt_progress)
        self._timing.prompt_end = time.monotonic()
        sampler.remember(self._prompt)
        stops = StopMatcher([*self._request.stop, *self._loaded.stops])
        characters = Utf8Stream()
        deltas = DeltaWriter(self._request.id, self._send)
        try:
            return self._decode_loop(sampler, characters, stops, deltas)
        finally:
            rest = "" if stops.matched else stops.feed(characters.flush()) + stops.flush()
            deltas.flush(rest, self._generated)

    def _decode_loop(
        self, sampler: Sampler, characters: Utf8Stream, stops: StopMatcher, deltas: DeltaWriter
    ) -> FinishReason:
        loaded, cancel, timing = self._loaded, self._cancel, self._timing
        api, context, vocabulary = loaded.llama.api, loaded.context, loaded.vocabulary
        pick = Picker(loaded.llama, context, sampler, vocabulary.size).pick
        decode, clock = api.llama_decode, time.monotonic
        pieces, cached = vocabulary.pieces, loaded.cache.tokens
        room = loaded.info.n_ctx
        limit = self._request.max_tokens or room
        cell = (ctypes.c_int32 * 1)()
        batch = api.llama_batch_get_one(cell, 1)
        count = 0
        while not cancel.is_set:
            token = pick()
            piece = pieces[token] if token in pieces else vocabulary.look_up(token)
            if piece is None:
                return FinishReason.STOP
            count += 1
            self._generated = count
            timing.last = clock()
            if count == 1:
                timing.first = timing.last
            deltas.add(stops.feed(characters.feed(piece)), count)
            if stops.matched:
                return FinishReason.STOP
            if count >= limit:
                return FinishReason.LENGTH
            if len(cached) >= room:
                return FinishReason.CONTEXT
            cell[0] = token
            result = decode(context, batch)
            if result != DECODE_OK:
                return self._decode_ended(result)
            cached.append(token)
        return FinishReason.CANCELLED

    def _decode_ended(self, result: int) -> FinishReason:
        problem = decode_problem(self._loaded, result)
        if result == DECODE_ABORTED:
            return FinishReason.CANCELLED
        raise problem

    def _prompt_progress(self, done: int, total: int) -> None:
        self._send(Progress(id=self._request.id, stage="prompt", done=done, total=total))

    def _finished(self, reason: FinishReason) -> Finished:
        timing = self._timing
        computed = len(self._prompt) - self._reused if timing.prompt_end else 0
        return Finished(
            id=self._request.id,
            reason=reason,
            stats=GenerationStats(
                prompt_tokens=len(self._prompt),
                cached_tokens=self._reused,
                generated_tokens=self._generated,
                ttft_ms=(timing.first - timing.taken) * 1000 if timing.first else 0.0,
                prefill_tps=_rate(computed, timing.prompt_end - timing.prompt_begin),
                decode_tps=_rate(self._generated - 1, timing.last - timing.first),
            ),
        )


def _rate(count: int, seconds: float) -> float:
    return count / seconds if count > 0 and seconds > 0 else 0.0
