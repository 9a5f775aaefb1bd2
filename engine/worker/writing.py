"""An answer while it is written: what is said, how much room there is, and what has to be computed next."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from engine.protocol.caching import Overflow
from engine.protocol.frames import Generate
from engine.protocol.types import DeviceKind, FinishReason
from engine.worker.answer_text import AnswerText
from engine.worker.cancel import Stop
from engine.worker.choosing import LAST_ROW, Chooser
from engine.worker.model import LoadedModel
from engine.worker.overflow import MOST_CONTEXTS
from engine.worker.prompt import DECODE_ABORTED, DECODE_OK, decode, decode_problem, make_room
from engine.worker.prompt_text import Prompt
from engine.worker.sequence_batch import sequence_batch
from engine.worker.slots import Slot
from engine.worker.thinking.control import ThoughtControl
from engine.worker.timing import Counts, Timing

CELLS = 64
"""Cells that an answer asks for at once where it shares the context with other conversations."""


class Writing:
    """Goes on with an answer whose prompt was read: alone in its own loop, or step by step beside others.

    Attributes:
        feed: Tokens to compute next. Without any the logits of the last one are there, in the row that the chooser
            knows.
        room: Tokens that the sequence may hold.
        ahead: Guesses; None where nothing is guessed.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        request: Generate,
        prompt: Prompt,
        chooser: Chooser,
        text: AnswerText,
        slot: Slot,
        timing: Timing,
        counts: Counts,
        cancel: Stop,
    ) -> None:
        self._loaded, self._request, self._prompt, self._chooser = loaded, request, prompt, chooser
        self._text, self._slot, self._timing, self._counts, self._cancel = text, slot, timing, counts, cancel
        self._shifts = request.overflow is Overflow.SHIFT
        n_ctx = loaded.info.n_ctx
        self._limit = request.max_tokens or (MOST_CONTEXTS * n_ctx if self._shifts else n_ctx)
        self._thoughts = ThoughtControl(loaded, prompt.parser, chooser, request.thinking, prompt.template_thinks)
        speculation, cache = loaded.speculation, slot.cache
        begin = None if speculation is None else speculation.begin
        self.ahead = begin and begin(loaded.llama, loaded.context, cache, chooser.look_in)
        self.feed: list[int] = []
        self.room = loaded.conversations.room_of(slot)

    def alone(self, pause: Stop) -> FinishReason | None:
        """Token by token until the answer ends; None: paused.

        Raises:
            PromptCancelled, VrambleError: What a decode call can end in.
        """
        if self.ahead is None:
            return self._decode_loop(pause)
        self.ahead.stop = pause
        try:
            return self._decode_loop(pause)
        finally:
            self.ahead.settle()

    def _decode_loop(self, pause: Stop) -> FinishReason | None:
        """A GPU computes the next token while the text of the last one is written."""
        loaded, timing, text, thoughts, counts = self._loaded, self._timing, self._text, self._thoughts, self._counts
        pick, add, compute, clock = self._chooser.pick, text.add, self._computer(), time.monotonic
        pieces, look_up, cached = loaded.vocabulary.pieces, loaded.vocabulary.look_up, self._slot.cache.tokens
        limit, count = self._limit, counts.generated
        works_aside = loaded.info.device.kind is not DeviceKind.CPU
        self._compute_feed()
        while not pause.is_set:
            if (thoughts.active or len(cached) >= self.room) and (reason := self._before_alone()):
                return reason
            token = pick()
            piece = pieces[token] if token in pieces else look_up(token)
            if piece is None:
                return FinishReason.STOP
            count += 1
            counts.generated = count
            timing.last = now = clock()
            timing.first = timing.first or now
            is_last = count >= limit or len(cached) >= self.room
            writes_first = is_last or count == 1 or not works_aside
            if writes_first:
                add(piece, token, count, now)
                if text.over:
                    return FinishReason.STOP
                if is_last:
                    return FinishReason.LENGTH if count >= limit else FinishReason.CONTEXT
            result = compute(token)
            if result != DECODE_OK:
                return self._decode_ended(result)
            if not writes_first:
                add(piece, token, count, now)
                if text.over:
                    return FinishReason.STOP
        return None

    def step(self, row: int | None = None) -> FinishReason | None:
        """Choose the next token and put it into `feed`, or the end.

        Args:
            row: Where the logits are in the last call; None: where its own last call left them.
        """
        thoughts, text, cached, counts = self._thoughts, self._text, self._slot.cache.tokens, self._counts
        self.look_for_room()
        if (thoughts.active or len(cached) >= self.room) and (reason := self._before_token()):
            return reason
        if self.feed:
            self._slot.wanted = len(cached) + len(self.feed)
            return None
        token = self._chooser.pick_from(row)
        piece = self._loaded.vocabulary.piece(token)
        if piece is None:
            return FinishReason.STOP
        counts.generated += 1
        self._timing.last = now = time.monotonic()
        self._timing.first = self._timing.first or now
        text.add(piece, token, counts.generated, now)
        if text.over:
            return FinishReason.STOP
        if counts.generated >= self._limit:
            return FinishReason.LENGTH
        if len(cached) >= self.room:
            return FinishReason.CONTEXT
        self.feed = [token]
        self._slot.wanted = len(cached) + 1
        return None

    def look_for_room(self) -> None:
        """Others have come: what they took is not there for this one."""
        self.room = self._loaded.conversations.room_of(self._slot)

    def _computer(self) -> Callable[[int], int]:
        """What computes a chosen token; it gives llama.cpp's result."""
        loaded, cached, ahead = self._loaded, self._slot.cache.tokens, self.ahead
        if ahead is not None:
            counts, limit, look_at = self._counts, self._limit, ahead.compute
            return lambda token: look_at(token, min(self.room - len(cached), limit - counts.generated) - 1)
        cell = (ctypes.c_int32 * 1)()
        batch = sequence_batch(loaded.llama.api, cell, 1, self._slot.cache.sequence)
        run, context, append = loaded.llama.api.llama_decode, loaded.context, cached.append

        def compute(token: int) -> int:
            cell[0] = token
            result: int = run(context, batch)
            if result == DECODE_OK:
                append(token)
            return result

        return compute

    def _before_alone(self) -> FinishReason | None:
        reason = self._before_token()
        if reason is None:
            self._compute_feed()
        return reason

    def _compute_feed(self) -> None:
        if self.feed:
            self._settle()
            cells = (ctypes.c_int32 * len(self.feed))(*self.feed)
            decode(self._loaded, cells, len(self.feed), self._slot.cache)
            self._chooser.look_in(LAST_ROW)
            self._slot.cache.tokens += self.feed
            self.feed = []

    def _before_token(self) -> FinishReason | None:
        """Make room where the context is full, count a thought, and write its end when its budget is spent."""
        thoughts, text, generated = self._thoughts, self._text, self._counts.generated
        closing = thoughts.step(generated, may_write=text.between_characters) if thoughts.active else []
        self._counts.thought = thoughts.counted
        self._make_room(len(closing) + 1)
        if not closing:
            return None
        if len(self._slot.cache.tokens) + len(closing) >= self.room:
            return FinishReason.CONTEXT
        self.feed = closing
        for token in closing:
            text.add(self._loaded.vocabulary.piece(token) or b"", token, generated, time.monotonic())
        thoughts.step(generated, may_write=False)
        return None

    def _make_room(self, count: int) -> None:
        """Let ``count`` more tokens fit: free conversations go, then the oldest part where that is wanted."""
        cache, conversations = self._slot.cache, self._loaded.conversations
        if len(cache.tokens) + count <= self.room:
            return
        conversations.make_cells(self._slot, count + CELLS)
        self.look_for_room()
        if self._shifts and len(cache.tokens) + count > self.room:
            self._settle()
            if make_room(self._loaded, self._prompt.head, self._cancel, cache):
                self._chooser.look_in(LAST_ROW)
            if self.ahead is not None:
                self.ahead.moved()

    def _settle(self) -> None:
        if self.ahead is not None:
            self.ahead.settle()

    def _decode_ended(self, result: int) -> FinishReason:
        problem = decode_problem(self._loaded, result, self._slot.cache)
        if result == DECODE_ABORTED:
            return FinishReason.CANCELLED
        raise problem
