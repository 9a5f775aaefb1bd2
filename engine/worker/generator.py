"""One answer: prompt, then token by token until something ends it. Alone, or step by step together with others."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.errors import VrambleError
from engine.protocol.frames import Finished, FromWorker, Generate, Progress
from engine.protocol.types import FinishReason
from engine.worker.answer_text import AnswerText
from engine.worker.cancel import Stop
from engine.worker.choosing import Chooser
from engine.worker.model import LoadedModel
from engine.worker.output import DeltaWriter
from engine.worker.prompt import PromptCancelled, begin_prompt, evaluate, next_slice
from engine.worker.prompt_text import Prompt, make_prompt
from engine.worker.slots import Slot
from engine.worker.templates.process import TemplateProcess
from engine.worker.timing import Counts, Timing, figures
from engine.worker.writing import Writing


class Generator:
    """Answers one request on a loaded model: `prepare`, `enter`, then `alone` or steps, `close` whatever happens.

    Args:
        cancel: Set when the request is to end.
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
        self._timing, self._counts = Timing(taken), Counts()
        self._prompt: list[int] = []
        self._unread: list[int] = []
        self._made: Prompt | None = None
        self._chooser: Chooser | None = None
        self._text: AnswerText | None = None
        self._slot: Slot | None = None
        self._writing: Writing | None = None
        self._told = self._thinking_open = False

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
        return self._writing is None

    @property
    def feed(self) -> list[int]:
        """Tokens to compute next. Without any the logits of the last one are there."""
        return self._unread if self._writing is None else self._writing.feed

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
        self._counts.prompt = len(self._prompt)
        self._chooser.follow(self._made.prefill)

    def enter(self) -> bool:
        """Turn to the conversation; false: others take so much of the context that there is no room now."""
        prompt, request, conversations = self._ready(), self._request, self._loaded.conversations
        self._timing.prompt_begin = time.monotonic()
        slot = conversations.turn_to(request.conversation, self._prompt, temporary=request.temporary)
        reused = self._counts.reused = begin_prompt(slot.cache, self._prompt, shortened=prompt.shortened)
        if not conversations.make_cells(slot, len(self._prompt) + 1 - reused):
            slot.busy = False
            return False
        self._slot, self._unread = slot, self._prompt[reused:]
        self._take_candidates(slot.cache.sequence)
        deltas = DeltaWriter(request.id, self._send)
        self._text = AnswerText(self._loaded, prompt.parser, request.stop, deltas)
        slot.wanted = len(self._prompt) + 1
        self._prompt_progress(reused, len(self._prompt))
        return True

    def _take_candidates(self, sequence: int) -> None:
        chooser = self._chooser
        assert chooser is not None
        wanted = chooser.is_content_with_candidates
        chooser.take_candidates(self._loaded.graph.use(sequence, wanted=wanted))

    def look_for_room(self) -> None:
        """Others have come: what they took is not there for this one."""
        if self._writing is not None:
            self._writing.look_for_room()

    def alone(self, pause: Stop) -> Finished | None:
        """Go on until the answer ends, or until ``pause`` is set: None.

        Raises:
            VrambleError: What `evaluate` raises.
        """
        try:
            writing = self._writing or self._read_alone(pause)
            reason = writing.alone(pause)
        except PromptCancelled:
            if self.reads:
                self._unread = self._prompt[len(self.slot.cache.tokens) :]
            reason = None
        if reason is None and self.cancel.is_set:
            reason = FinishReason.CANCELLED
        return None if reason is None else self.finish(reason)

    def slice(self, most: int) -> list[int]:
        """What it has to compute next, at most so many tokens."""
        return next_slice(self.slot.cache, self._prompt, most) if self.reads else self.feed[:most]

    def computed(self, count: int) -> None:
        """So many of `feed` were computed together with the tokens of others."""
        cache, feed = self.slot.cache, self.feed
        cache.tokens += feed[:count]
        del feed[:count]
        if self.reads:
            self._prompt_progress(len(cache.tokens), len(self._prompt))
            if not feed:
                self._prompt_was_read()

    def step(self, row: int | None = None) -> Finished | None:
        """Choose the next token as `Writing.step`; or the end."""
        assert self._writing is not None
        reason = self._writing.step(row)
        return None if reason is None else self.finish(reason)

    def _read_alone(self, pause: Stop) -> Writing:
        evaluate(self._loaded, self._prompt, pause, self._prompt_progress, self.slot.cache)
        return self._prompt_was_read()

    def _prompt_was_read(self) -> Writing:
        chooser, text = self._chooser, self._text
        assert chooser is not None
        assert text is not None
        self._unread, self.slot.wanted = [], 0
        self._timing.prompt_end = time.monotonic()
        chooser.remember(self._prompt)
        self._writing = Writing(
            self._loaded,
            self._request,
            self._ready(),
            chooser,
            text,
            self.slot,
            self._timing,
            self._counts,
            self.cancel,
        )
        return self._writing

    def _prompt_progress(self, done: int, total: int) -> None:
        self._send(Progress(id=self._request.id, stage="prompt", done=done, total=total))

    def _ready(self) -> Prompt:
        assert self._made is not None
        return self._made

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
                self._text.close(self._counts.generated)

    def finish(self, reason: FinishReason) -> Finished:
        """What was held back is sent; the terminal frame."""
        self._end_text()
        ahead = None if self._writing is None else self._writing.ahead
        drafted, accepted = (0, 0) if ahead is None else (ahead.drafted, ahead.accepted)
        return Finished(
            id=self._request.id,
            reason=reason,
            thinking_open=self._thinking_open,
            stats=figures(self._timing, self._counts, drafted, accepted),
        )
