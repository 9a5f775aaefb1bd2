"""Answers that have ended but could not be saved yet: kept, shown, tried again."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, QTimer

from app.chat import chat_notices
from app.chat.database import ChatDatabase
from app.notices import Notices
from engine.chat.records import AnswerEnd, Conversation, Message, Part, PartKind
from engine.chat.store import Store
from engine.errors import VrambleError

RETRY_MS = 5000


class UnsavedAnswers(QObject):
    """Saves the ends of answers; what the disk refuses stays here until it takes it."""

    def __init__(self, database: ChatDatabase, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database, self._notices = database, notices
        self._waiting: dict[str, tuple[AnswerEnd, str]] = {}
        self._told = False
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(RETRY_MS)
        self.timer.timeout.connect(self.retry)

    def save(self, end: AnswerEnd, conversation: str, done: Callable[[Conversation], None]) -> None:
        """Save ``end``; then ``done`` with its conversation as it is now, if it still exists."""
        self._waiting[end.id] = (end, conversation)

        def work(store: Store) -> Conversation | None:
            store.end(end)
            return store.conversation(conversation)

        def saved(result: Conversation | VrambleError | None) -> None:
            if isinstance(result, VrambleError):
                self.tell(result)
                self.timer.start()
                return
            self._waiting.pop(end.id, None)
            self._withdraw()
            if result is not None:
                done(result)

        self._database.call(work, saved)

    def retry(self) -> None:
        """Try to save what waits."""
        for end, conversation in list(self._waiting.values()):
            self.save(end, conversation, _ignore)

    def tell(self, error: VrambleError) -> None:
        """Say once that something on the screen is not on the disk."""
        if not self._told:
            self._told = True
            self._notices.post(chat_notices.not_saved(error))

    def laid_over(self, message: Message) -> Message:
        """``message`` with the end that waits to be saved for it, if there is one."""
        waiting = self._waiting.get(message.id)
        if waiting is None:
            return message
        end = waiting[0]
        return msgspec.structs.replace(
            message,
            text=end.text,
            parts=_words_of(end),
            status=end.status,
            model=end.model,
            stats=end.stats,
            error=end.error,
            finish=end.finish,
            thought_s=end.thought_s,
        )

    def _withdraw(self) -> None:
        if self._told and not self._waiting:
            self._told = False
            self._notices.withdraw(chat_notices.UNSAVED)


def _words_of(end: AnswerEnd) -> tuple[Part, ...]:
    thought = (Part(PartKind.THINKING, end.thinking),) if end.thinking else ()
    return (*thought, Part(PartKind.TEXT, end.text))


def _ignore(_conversation: Conversation) -> None:
    """Its place in the list can wait for the next change."""
