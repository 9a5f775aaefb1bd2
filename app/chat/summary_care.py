"""What the user does with the summary of a conversation's beginning: write it anew, have it made again, remove it."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.chat.answering import Answering
from app.chat.chat_notices import not_opened, summary_kept, summary_removed
from app.chat.database import ChatDatabase
from app.chat.engine_seam import AnswerEngine
from app.chat.open_thread import OpenThread
from app.chat.parameters import Parameters
from app.chat.summaries import Piece
from app.chat.summaries import Thread as Turns
from app.chat.summary_request import SUMMARISING, ask_for_summary, is_whole, words_of
from app.notices import Notices
from engine.chat.records import Thread
from engine.chat.text import clean
from engine.errors import VrambleError
from engine.protocol.frames import Failed, Finished, Progress
from engine.protocol.types import Sampling

OTHER_WORDS: Final = Sampling(temperature=0.7)
"""Without chance the same turns would give the same summary again."""


class Making(NamedTuple):
    """A summary that is made now: the message that it stands at, and how far it is, in words."""

    conversation: str
    message: str
    words: str


class SummaryCare(QObject):
    """Commands on the summary at a message of the open conversation. They do nothing while an answer is written there.

    Attributes:
        changed: `making` is another.
        making: The one that the model makes now; None: none.
    """

    changed = Signal()

    def __init__(
        self,
        place: OpenThread,
        answering: Answering,
        database: ChatDatabase,
        parameters: Parameters,
        engine: AnswerEngine,
        notices: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._place, self._answering, self._database = place, answering, database
        self._parameters, self._engine, self._notices = parameters, engine, notices
        self._request: int | None = None
        self._attempt = 0
        self.making: Making | None = None

    def edit(self, message: str, text: str) -> bool:
        """Let ``text`` stand for all messages before ``message``. False: not now."""
        conversation = self._free_place()
        if conversation is None or not clean(text).strip():
            return False
        self._keep(conversation, message, clean(text).strip())
        return True

    def remove(self, message: str) -> None:
        """Leave all messages before ``message`` out with nothing in their place; an Undo is offered."""
        conversation = self._free_place()
        row = next((row for row in self._place.rows() if row.id == message), None)
        if conversation is None or row is None:
            return
        before = row.summary
        self._keep(conversation, message, "")
        self._notices.post(summary_removed(lambda: self._keep(conversation, message, before)))

    def remake(self, message: str) -> None:
        """Have the model summarise all messages before ``message`` again, with those before an earlier summary in its
        words. What is there stays until the new one is.
        """
        conversation = self._free_place()
        if conversation is None or self.making is not None:
            return
        if self._engine.model is None:
            self._notices.post(summary_kept("No model is loaded that could summarise the earlier messages."))
            return
        self._set_making(Making(conversation, message, SUMMARISING))
        self._attempt += 1
        attempt = self._attempt
        self._database.call(lambda store: store.thread(conversation), lambda result: self._ask(result, attempt))

    def stop(self) -> None:
        """Make no summary; the earlier one stays."""
        self._set_making(None)
        request, self._request = self._request, None
        if request is not None:
            self._engine.cancel(request)

    def _free_place(self) -> str | None:
        conversation = self._place.shown()
        return None if conversation is None or self._answering.of(conversation) is not None else conversation

    def _ask(self, result: Thread | VrambleError | None, attempt: int) -> None:
        making, model = self.making, self._engine.model
        if making is None or attempt != self._attempt:
            return
        piece: Piece | None = None
        if isinstance(result, Thread) and model is not None:
            settings = self._parameters.of(making.conversation)
            piece = Turns(result.messages, settings, model.n_ctx).piece_before(making.message)
        if piece is None:
            self._set_making(None)
            return
        written: list[str] = []

        def done(event: Finished | Failed) -> None:
            if attempt == self._attempt and self.making is not None:
                self._done(event, making, "".join(written).strip())

        self._request = ask_for_summary(
            self._engine,
            piece,
            making.conversation,
            lambda delta: written.append(delta.text),
            self._progress,
            done,
            OTHER_WORDS,
        )

    def _progress(self, progress: Progress) -> None:
        words = words_of(progress)
        if words and self.making is not None:
            self._set_making(self.making._replace(words=words))

    def _done(self, event: Finished | Failed, begun: Making, written: str) -> None:
        self._request = None
        if is_whole(event) and written:
            self._keep(begun.conversation, begun.message, written)
        else:
            self._notices.post(summary_kept(f"The summary could not be made again. {_reason(event)}".strip()))
        self._set_making(None)

    def _keep(self, conversation: str, message: str, text: str) -> None:
        def taken(result: bool | VrambleError) -> None:
            if isinstance(result, VrambleError):
                self._notices.post(not_opened(result))
            elif conversation == self._place.shown():
                self._place.load(conversation)

        self._database.call(lambda store: store.keep_summary(conversation, message, text), taken)

    def _set_making(self, making: Making | None) -> None:
        if making != self.making:
            self.making = making
            self.changed.emit()


def _reason(event: Finished | Failed) -> str:
    if isinstance(event, Failed):
        return event.message
    return "The model wrote nothing." if is_whole(event) else "The model was stopped before it had ended."
