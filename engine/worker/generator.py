"""One answer: prompt, then token by token until something ends it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.frames import Finished, FromWorker, Generate, Progress
from engine.protocol.types import DeviceKind, FinishReason, GenerationStats
from engine.worker.answer_text import AnswerText
from engine.worker.cancel import CancelFlag
from engine.worker.choosing import Chooser
from engine.worker.model import LoadedModel
from engine.worker.output import DeltaWriter
from engine.worker.overflow import MOST_CONTEXTS
from engine.worker.prompt import (
    DECODE_ABORTED,
    DECODE_OK,
    PromptCancelled,
    decode,
    decode_problem,
    evaluate,
    make_room,
)
from engine.worker.prompt_text import Prompt, make_prompt
from engine.worker.slots import Slot
from engine.worker.templates.process import RenderCancelled, TemplateProcess
from engine.worker.thinking.control import ThoughtControl


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
        self._head = 0
        self._shifts = request.overflow is Overflow.SHIFT
        self._reused = 0
        self._generated = 0
        self._thought = 0
        self._thinking_open = False

    def run(self) -> Finished:
        """The answer as deltas, and its terminal frame.

        Raises:
            VrambleError: ``bad-limit`` and what `Chooser`, `make_prompt` and `evaluate` raise.
        """
        limit, budget = self._request.max_tokens, self._request.thinking.budget
        if limit is not None and limit < 1:
            raise VrambleError("bad-limit", "The answer must be allowed at least one token.")
        if budget is not None and budget < 0:
            raise VrambleError("bad-limit", "The budget of a thought has to be 0 tokens or more.")
        chooser = Chooser(self._loaded, self._request.sampling, endless=self._request.endless)
        try:
            return self._finished(self._answer(chooser))
        except (PromptCancelled, RenderCancelled):
            return self._finished(FinishReason.CANCELLED)
        finally:
            chooser.close()

    def _answer(self, chooser: Chooser) -> FinishReason:
        prompt = make_prompt(self._loaded, self._templates, self._request, self._cancel)
        self._prompt, self._head = prompt.tokens, prompt.head
        chooser.follow(prompt.prefill)
        self._timing.prompt_begin = time.monotonic()
        slot = self._turn_to_conversation()
        try:
            return self._read_and_write(prompt, chooser)
        finally:
            slot.busy = False

    def _turn_to_conversation(self) -> Slot:
        request = self._request
        return self._loaded.conversations.turn_to(request.conversation, self._prompt, temporary=request.temporary)

    def _read_and_write(self, prompt: Prompt, chooser: Chooser) -> FinishReason:
        self._reused = evaluate(
            self._loaded, self._prompt, self._cancel, self._prompt_progress, shortened=prompt.shortened
        )
        self._timing.prompt_end = time.monotonic()
        chooser.remember(self._prompt)
        deltas = DeltaWriter(self._request.id, self._send)
        text = AnswerText(self._loaded, prompt.parser, self._request.stop, deltas)
        try:
            return self._decode_loop(chooser, text, self._control(prompt, chooser))
        finally:
            self._thinking_open = prompt.parser.thinking
            text.close(self._generated)

    def _control(self, prompt: Prompt, chooser: Chooser) -> ThoughtControl:
        return ThoughtControl(self._loaded, prompt.parser, chooser, self._request.thinking, prompt.template_thinks)

    def _decode_loop(self, chooser: Chooser, text: AnswerText, thoughts: ThoughtControl) -> FinishReason:
        """Token by token. A GPU computes the next one while the text of the last one is written."""
        loaded, cancel, timing = self._loaded, self._cancel, self._timing
        context, vocabulary, pick, add = loaded.context, loaded.vocabulary, chooser.pick, text.add
        run, clock = loaded.llama.api.llama_decode, time.monotonic
        pieces, cached = vocabulary.pieces, loaded.cache.tokens
        room = loaded.info.n_ctx
        limit = self._request.max_tokens or (MOST_CONTEXTS * room if self._shifts else room)
        cell = (ctypes.c_int32 * 1)()
        batch = loaded.llama.api.llama_batch_get_one(cell, 1)
        works_aside = loaded.info.device.kind is not DeviceKind.CPU
        count = 0
        while not cancel.is_set:
            if (thoughts.active or len(cached) >= room) and (reason := self._before_token(thoughts, text)):
                return reason
            token = pick()
            piece = pieces[token] if token in pieces else vocabulary.look_up(token)
            if piece is None:
                return FinishReason.STOP
            count += 1
            self._generated = count
            timing.last = now = clock()
            timing.first = timing.first or now
            is_last = count >= limit or len(cached) >= room
            writes_first = is_last or count == 1 or not works_aside
            if writes_first:
                add(piece, token, count, now)
                if text.over:
                    return FinishReason.STOP
                if is_last:
                    return FinishReason.LENGTH if count >= limit else FinishReason.CONTEXT
            cell[0] = token
            result = run(context, batch)
            if result != DECODE_OK:
                return self._decode_ended(result)
            cached.append(token)
            if not writes_first:
                add(piece, token, count, now)
                if text.over:
                    return FinishReason.STOP
        return FinishReason.CANCELLED

    def _before_token(self, thoughts: ThoughtControl, text: AnswerText) -> FinishReason | None:
        """Make room where the context is full, count a thought, and write its end when its budget is spent."""
        closing = thoughts.step(self._generated, may_write=text.between_characters) if thoughts.active else []
        self._thought = thoughts.counted
        loaded, vocabulary = self._loaded, self._loaded.vocabulary
        if self._shifts and len(loaded.cache.tokens) + len(closing) >= loaded.info.n_ctx:
            make_room(loaded, self._head, self._cancel)
        if not closing:
            return None
        if len(loaded.cache.tokens) + len(closing) >= loaded.info.n_ctx:
            return FinishReason.CONTEXT
        decode(loaded, (ctypes.c_int32 * len(closing))(*closing), len(closing))
        loaded.cache.tokens += closing
        for token in closing:
            text.add(vocabulary.piece(token) or b"", token, self._generated, time.monotonic())
        thoughts.step(self._generated, may_write=False)
        return None

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
            thinking_open=self._thinking_open,
            stats=GenerationStats(
                prompt_tokens=len(self._prompt),
                cached_tokens=self._reused,
                generated_tokens=self._generated,
                thinking_tokens=self._thought,
                ttft_ms=(timing.first - timing.taken) * 1000 if timing.first else 0.0,
                prefill_tps=_rate(computed, timing.prompt_end - timing.prompt_begin),
                decode_tps=_rate(self._generated - 1, timing.last - timing.first),
            ),
        )


def _rate(count: int, seconds: float) -> float:
    return count / seconds if count > 0 and seconds > 0 else 0.0
