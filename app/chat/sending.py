"""From the composer to the store: a question begins an answer, or waits for the one before it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chat.answering import Answering, NotStored
from app.chat.drafts import Drafts
from app.chat.open_thread import OpenThread
from app.chat.parameters import Parameters
from app.chat.queue import MessageQueue
from app.chat.rows import YOU, MessageRow
from engine.chat.ids import new_id
from engine.chat.records import AnswerEnd, Draft, Question, Role, Status
from engine.chat.temporary import new_conversation_id
from engine.chat.text import clean


class Sending(QObject):
    """Asks in the open conversation, and in those where a message waits.

    Args:
        now: Seconds since 1970.

    Attributes:
        restored: Text that was taken and could not be saved; it belongs back into the composer.
    """

    restored = Signal(str)

    def __init__(
        self,
        opened: OpenThread,
        answering: Answering,
        parameters: Parameters,
        drafts: Drafts,
        now: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open, self._answering, self._parameters = opened, answering, parameters
        self._drafts, self._now = drafts, now
        self._closed = False
        self.queue = MessageQueue(drafts.keep, self)
        answering.refused.connect(self._not_stored)
        answering.ended.connect(self._answer_ended)

    def send(self, text: str) -> bool:
        """Append ``text`` to the open conversation, save it, then have it answered. While an answer runs there
        it waits in `queue`.

        Returns:
            Whether the text was taken; if not, it stays in the composer. Text that was taken but
            could not be saved comes back through `restored`.
        """
        text, here = clean(text), self._open.place.id
        if self._closed or not text.strip():
            return False
        if here is not None and self._answering.of(here) is not None:
            if self._is_repeated(text):
                return False
            self.queue.add(here, text)
            return True
        return self._answering.can_begin(here) and self._ask(here, text)

    def keep_draft(self, conversation: str | None, draft: Draft) -> None:
        """Save what is typed but not sent in ``conversation`` (None: the new chat), at most once a second. Nothing of
        temporary ones.
        """
        if conversation is not None or not self._open.place.temporary:
            self.queue.keep(conversation, draft)

    def close(self) -> None:
        """Nothing is taken any more."""
        self._closed = True

    def _is_repeated(self, text: str) -> bool:
        """Whether this is the question that was just asked, sent twice by one key."""
        last = self._open.rows()[-2:]
        return len(last) == 2 and last[0].text == text and not (last[1].text or last[1].thinking)

    def _ask(self, known: str | None, text: str) -> bool:
        """Ask in a conversation, None: in one that is made for it and opened."""
        place, new = self._open.place, known is None
        conversation = known or new_conversation_id(self._now(), temporary=place.temporary)
        question = Question(id=new_id(self._now()), text=text)
        self._drafts.forget(known)
        parameters = self._parameters.of(known)
        settings = self._parameters.began(conversation) if new else None
        if new:
            place.begin(conversation)
        running = self._answering.begin(
            conversation,
            parameters,
            lambda store, start: store.ask(conversation, question, start, settings),
            text=text,
        )
        if place.shows(conversation):
            self._open.append(self._question_row(question), running.row)
        self._open.follow()
        return True

    def _answer_ended(self, end: AnswerEnd, conversation: str) -> None:
        """What waits for an answer that came to its end is sent now."""
        if end.status is not Status.DONE or not self.queue.of(conversation):
            return
        if self._answering.can_begin(conversation) and (text := self.queue.take(conversation)) is not None:
            self._ask(conversation, text)
            self.queue.save(conversation)

    def _not_stored(self, refused: NotStored) -> None:
        if self._open.place.id == refused.conversation:
            if self._open.place.record is None:
                self._parameters.refused(refused.conversation)
                self._open.leave()
            else:
                self._open.load(refused.conversation)
        self._open.follow()
        if refused.text:
            self.restored.emit(refused.text)

    def _question_row(self, question: Question) -> MessageRow:
        return MessageRow(
            id=question.id, role=Role.USER, text=question.text, status=Status.DONE, author=YOU, created=self._now()
        )
