"""Asks the model for summaries before an answer, where the oldest turns do not fit any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from app.chat.database import ChatDatabase
from app.chat.engine_seam import AnswerEngine
from app.chat.settings import ChatSettings, ContextPolicy
from app.chat.summaries import Piece, Summarised, Thread
from app.chat.summary_request import SUMMARISING, ask_for_summary, is_whole, words_of
from engine.chat.records import Message
from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Failed, Finished, Progress

NOT_SUMMARISED: Final = "The earlier messages could not be summarised, so the oldest turns were left out."
TOO_LONG: Final = "context-exceeded"
_OVER: Final = frozenset({"cancelled", "stopped", "no-model"})
"""Codes of `Failed` after which nothing more is asked."""


class Summarising:
    """For one answer. Without `ContextPolicy.SUMMARISE` the prompt is what it was.

    Args:
        tell: Takes a line for the message.
        stored: Called when a summary is on the disk.
        ended: Takes the end of a request that nothing follows: it was cancelled, or there is no model.

    Attributes:
        request: What the engine is asked now, for its cancel; None: nothing.
        problem: What the user should read beside the answer; "" when all went well.
        begun_at: As `RunSettings.begun_at`.
    """

    def __init__(
        self,
        engine: AnswerEngine,
        database: ChatDatabase,
        conversation: str,
        settings: ChatSettings,
        tell: Callable[[str], None],
        stored: Callable[[], None],
        ended: Callable[[Failed], None],
    ) -> None:
        self._engine, self._database, self._conversation = engine, database, conversation
        self._settings, self._tell, self._stored, self._ended = settings, tell, stored, ended
        self._thread: Thread | None = None
        self._words = ""
        self._stopped = False
        self.request: int | None = None
        self.problem = ""
        self.begun_at = ""

    @property
    def overflow(self) -> Overflow:
        """What the engine does with a prompt that is too long nevertheless."""
        return Overflow.SHIFT if self.problem else self._settings.overflow.of_engine

    def prepare(self, messages: Sequence[Message], ask: Callable[[Summarised], None]) -> None:
        """Have what does not fit summarised, then ``ask``. Not called after `stop`."""
        if self._settings.overflow is not ContextPolicy.SUMMARISE:
            ask(Summarised(self._settings.system_prompt, messages, ""))
            return
        model = self._engine.model
        self._thread = Thread(messages, self._settings, None if model is None else model.n_ctx)
        self._go_on(self._thread, self._thread.piece(), ask)

    def again(self, event: Finished | Failed, ask: Callable[[Summarised], None]) -> bool:
        """The engine refused the prompt: whether it is asked again with less of the conversation."""
        too_long = isinstance(event, Failed) and event.code == TOO_LONG
        if self._thread is None or self._engine.model is None or self.problem or not too_long:
            return False
        self._thread.learn(self._engine.model.n_ctx)
        piece = self._thread.piece(forced=True)
        if piece is not None:
            self._go_on(self._thread, piece, ask)
        return piece is not None

    def stop(self) -> None:
        """Nothing more is asked; a request that runs is cancelled."""
        self._stopped = True
        if self.request is not None:
            self._engine.cancel(self.request)

    def _go_on(self, thread: Thread, piece: Piece | None, ask: Callable[[Summarised], None]) -> None:
        if piece is None or self.problem:
            prompt = thread.prompt
            self.begun_at = prompt.begun_at
            ask(prompt)
            return
        self._words = ""
        self._tell(SUMMARISING)
        self.request = ask_for_summary(
            self._engine,
            piece,
            self._conversation,
            self._take,
            self._progress,
            lambda event: self._done(event, thread, piece, ask),
        )

    def _take_stored(self, kept: bool | VrambleError) -> None:
        """One that cannot be saved is made again for the next answer."""
        if kept is True:
            self._stored()

    def _take(self, delta: Delta) -> None:
        self._words += delta.text

    def _progress(self, progress: Progress) -> None:
        words = words_of(progress)
        if words and not self._stopped:
            self._tell(words)

    def _done(self, event: Finished | Failed, thread: Thread, piece: Piece, ask: Callable[[Summarised], None]) -> None:
        self.request = None
        if self._stopped or (isinstance(event, Failed) and event.code in _OVER):
            self._ended(event if isinstance(event, Failed) else Failed(id=event.id, code="cancelled", message=""))
            return
        summary = self._words.strip()
        if is_whole(event) and summary:
            thread.put(piece, summary)
            self._database.call(
                lambda store: store.keep_summary(self._conversation, piece.before, summary), self._take_stored
            )
        else:
            self.problem = NOT_SUMMARISED
        self._go_on(thread, thread.piece(), ask)
