"""One answer: prompt, then token by token until something ends it. Alone, or step by step together with others."""

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
from engine.worker.cancel import Stop
from engine.worker.choosing import Chooser
from engine.worker.model import LoadedModel
from engine.worker.output import DeltaWriter
from engine.worker.overflow import MOST_CONTEXTS
from engine.worker.prompt import (
    DECODE_ABORTED,
    DECODE_OK,
    PromptCancelled,
    begin_prompt,
    decode,
    decode_problem,
    evaluate,
    make_room,
    next_slice,
)
from engine.worker.prompt_text import Prompt, make_prompt
from engine.worker.sequence_batch import sequence_batch
from engine.worker.slots import Slot
from engine.worker.templates.process import TemplateProcess
from engine.worker.thinking.control import ThoughtControl

CELLS = 64
"""Cells that an answer asks for at once where it shares the context with other conversations."""


@dataclass
class Timing:
    """Moments of one answer, monotonic seconds; 0 when they did not come."""

    taken: float
    prompt_begin: float = 0.0
    prompt_end: float = 0.0
    first: float = 0.0
    last: float = 0.0


class Generator:
    """Answers one request on a loaded model: `prepare`, `enter`, then `alone` or steps, `close` whatever happens.

    Args:
        cancel: Set when the request is to end.

    Attributes:
        feed: Tokens to compute next. Without any the logits of the last one are there.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        templates: TemplateProcess,
        request: Generate,
        cancel: Stop,
        send: Callable[[FromWorker], None],
        taken: float,
    ) -> None:
        self._loaded, self._templates, self._request = loaded, templates, request
        self.cancel, self._send = cancel, send
        self._timing = Timing(taken)
        self._shifts = request.overflow is Overflow.SHIFT
        self._prompt: list[int] = []
        self._reused = self._generated = self._thought = 0
        self._made: Prompt | None = None
        self._chooser: Chooser | None = None
        self._text: AnswerText | None = None
        self._slot: Slot | None = None
        self._room = loaded.info.n_ctx
        self._told = self._thinking_open = False
        self.feed: list[int] = []

    @property
    def id(self) -> int:
        """Id of the request."""
        return self._request.id

    @property
    def slot(self) -> Slot:
        """The sequence that it is written in, from `enter` on."""
        assert self._slot is not None
        return self._slot

    @property
    def reads(self) -> bool:
        """The prompt is not read to its end yet."""
        return not self._timing.prompt_end

    def prepare(self) -> None:
        """Check the request and make its prompt.

        Raises:
            VrambleError: ``bad-limit`` and what `Chooser` and `make_prompt` raise.
            RenderCancelled: While the template ran.
        """
        limit, budget = self._request.max_tokens, self._request.thinking.budget
        if limit is not None and limit < 1:
            raise VrambleError("bad-limit", "The answer must be allowed at least one token.")
        if budget is not None and budget < 0:
            raise VrambleError("bad-limit", "The budget of a thought has to be 0 tokens or more.")
        self._chooser = Chooser(self._loaded, self._request.sampling, endless=self._request.endless)
        self._made = make_prompt(self._loaded, self._templates, self._request, self.cancel)
        self._prompt = self._made.tokens
        self._chooser.follow(self._made.prefill)

    def enter(self) -> bool:
        """Turn to the conversation; false: others take so much of the context that there is no room now."""
        prompt, request, conversations = self._ready(), self._request, self._loaded.conversations
        self._timing.prompt_begin = time.monotonic()
        slot = conversations.turn_to(request.conversation, self._prompt, temporary=request.temporary)
        self._reused = begin_prompt(slot.cache, self._prompt, shortened=prompt.shortened)
        if not conversations.make_cells(slot, len(self._prompt) + 1 - self._reused):
            slot.busy = False
            return False
        self._slot, self.feed = slot, self._prompt[self._reused :]
        self._room = conversations.room_of(slot)
        deltas = DeltaWriter(request.id, self._send)
        self._text = AnswerText(self._loaded, prompt.parser, request.stop, deltas)
        slot.wanted = len(self._prompt) + 1
        self._prompt_progress(self._reused, len(self._prompt))
        return True

    def look_for_room(self) -> None:
        """Others have come: what they took is not there for this one."""
        self._room = self._loaded.conversations.room_of(self.slot)

    def alone(self, pause: Stop) -> Finished | None:
        """Go on until the answer ends, or until ``pause`` is set: None.

        Raises:
            VrambleError: What `evaluate` raises.
        """
        try:
            if self.reads:
                self._read_alone(pause)
            reason = self._decode_loop(pause)
        except PromptCancelled:
            self.feed = self._prompt[len(self.slot.cache.tokens) :] if self.reads else []
            reason = None
        if reason is None and self.cancel.is_set:
            reason = FinishReason.CANCELLED
        return None if reason is None else self.finish(reason)

    def slice(self, most: int) -> list[int]:
        """What it has to compute next, at most so many tokens."""
        return next_slice(self.slot.cache, self._prompt, most) if self.reads else self.feed[:most]

    def computed(self, count: int) -> None:
        """So many of `feed` were computed together with the tokens of others."""
        cache = self.slot.cache
        cache.tokens += self.feed[:count]
        del self.feed[:count]
        if self.reads:
            self._prompt_progress(len(cache.tokens), len(self._prompt))
            if not self.feed:
                self._prompt_was_read()

    def step(self, row: int) -> Finished | None:
        """Choose the next token from the logits in ``row`` and put it into `feed`; or the end."""
        thoughts, text, cached = self._control, self._words(), self.slot.cache.tokens
        self.look_for_room()
        if (thoughts.active or len(cached) >= self._room) and (reason := self._before_token(thoughts, text)):
            return self.finish(reason)
        if self.feed:
            self.slot.wanted = len(cached) + len(self.feed)
            return None
        token = self._choosing().pick_from(row)
        piece = self._loaded.vocabulary.pieces.get(token) or self._loaded.vocabulary.look_up(token)
        if piece is None:
            return self.finish(FinishReason.STOP)
        self._generated += 1
        self._timing.last = now = time.monotonic()
        self._timing.first = self._timing.first or now
        text.add(piece, token, self._generated, now)
        if text.over:
            return self.finish(FinishReason.STOP)
        if self._generated >= self._limit:
            return self.finish(FinishReason.LENGTH)
        if len(cached) >= self._room:
            return self.finish(FinishReason.CONTEXT)
        self.feed = [token]
        self.slot.wanted = len(cached) + 1
        return None

    def _read_alone(self, pause: Stop) -> None:
        evaluate(self._loaded, self._prompt, pause, self._prompt_progress, self.slot.cache)
        self._prompt_was_read()

    def _prompt_was_read(self) -> None:
        prompt, chooser = self._ready(), self._choosing()
        self.feed, self.slot.wanted = [], 0
        self._timing.prompt_end = time.monotonic()
        chooser.remember(self._prompt)
        thinking = self._request.thinking
        self._control = ThoughtControl(self._loaded, prompt.parser, chooser, thinking, prompt.template_thinks)

    @property
    def _limit(self) -> int:
        n_ctx = self._loaded.info.n_ctx
        return self._request.max_tokens or (MOST_CONTEXTS * n_ctx if self._shifts else n_ctx)

    def _decode_loop(self, pause: Stop) -> FinishReason | None:
        """Token by token; None: paused. A GPU computes the next one while the text of the last one is written."""
        loaded, timing, text, thoughts = self._loaded, self._timing, self._words(), self._control
        context, vocabulary, pick, add = loaded.context, loaded.vocabulary, self._choosing().pick, text.add
        run, clock = loaded.llama.api.llama_decode, time.monotonic
        pieces, cached = vocabulary.pieces, self.slot.cache.tokens
        limit, count = self._limit, self._generated
        cell = (ctypes.c_int32 * 1)()
        batch = sequence_batch(loaded.llama.api, cell, 1, self.slot.cache.sequence)
        works_aside = loaded.info.device.kind is not DeviceKind.CPU
        self._compute_feed()
        while not pause.is_set:
            if (thoughts.active or len(cached) >= self._room) and (reason := self._before_alone(thoughts, text)):
                return reason
            token = pick()
            piece = pieces[token] if token in pieces else vocabulary.look_up(token)
            if piece is None:
                return FinishReason.STOP
            count += 1
            self._generated = count
            timing.last = now = clock()
            timing.first = timing.first or now
            is_last = count >= limit or len(cached) >= self._room
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
        return None

    def _before_alone(self, thoughts: ThoughtControl, text: AnswerText) -> FinishReason | None:
        reason = self._before_token(thoughts, text)
        if reason is None:
            self._compute_feed()
        return reason

    def _compute_feed(self) -> None:
        if self.feed:
            cells = (ctypes.c_int32 * len(self.feed))(*self.feed)
            decode(self._loaded, cells, len(self.feed), self.slot.cache)
            self.slot.cache.tokens += self.feed
            self.feed = []

    def _before_token(self, thoughts: ThoughtControl, text: AnswerText) -> FinishReason | None:
        """Make room where the context is full, count a thought, and write its end when its budget is spent."""
        closing = thoughts.step(self._generated, may_write=text.between_characters) if thoughts.active else []
        self._thought = thoughts.counted
        self._make_room(len(closing) + 1)
        if not closing:
            return None
        if len(self.slot.cache.tokens) + len(closing) >= self._room:
            return FinishReason.CONTEXT
        self.feed = closing
        for token in closing:
            text.add(self._loaded.vocabulary.piece(token) or b"", token, self._generated, time.monotonic())
        thoughts.step(self._generated, may_write=False)
        return None

    def _make_room(self, count: int) -> None:
        """Let ``count`` more tokens fit: free conversations go, then the oldest part where that is wanted."""
        cache, conversations = self.slot.cache, self._loaded.conversations
        if len(cache.tokens) + count <= self._room:
            return
        conversations.make_cells(self.slot, count + CELLS)
        self._room = conversations.room_of(self.slot)
        if self._shifts and len(cache.tokens) + count > self._room:
            make_room(self._loaded, self._ready().head, self.cancel, cache)

    def _decode_ended(self, result: int) -> FinishReason:
        problem = decode_problem(self._loaded, result, self.slot.cache)
        if result == DECODE_ABORTED:
            return FinishReason.CANCELLED
        raise problem

    def _prompt_progress(self, done: int, total: int) -> None:
        self._send(Progress(id=self._request.id, stage="prompt", done=done, total=total))

    def _ready(self) -> Prompt:
        assert self._made is not None
        return self._made

    def _choosing(self) -> Chooser:
        assert self._chooser is not None
        return self._chooser

    def _words(self) -> AnswerText:
        assert self._text is not None
        return self._text

    def close(self) -> None:
        """Free what is native; the sequence is free for others."""
        if self._chooser is not None:
            self._chooser.close()
        if self._slot is not None:
            self._slot.busy, self._slot.wanted = False, 0
        self._end_text()

    def _end_text(self) -> None:
        """Send what was held back."""
        if self._text is not None and not self._told:
            self._told, self._thinking_open = True, not self.reads and self._ready().parser.thinking
            if not self.reads:
                self._text.close(self._generated)

    def finish(self, reason: FinishReason) -> Finished:
        """What was held back is sent; the terminal frame."""
        timing = self._timing
        self._end_text()
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
