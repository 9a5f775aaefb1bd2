"""Commands on messages of the open conversation: answer again or on, edit, branch, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.chat.answering import Answering
from app.chat.chat_notices import DELETED, messages_deleted, not_opened
from app.chat.database import ChatDatabase
from app.chat.deletions import PURGE_MS
from app.chat.model_choice import Choice
from app.chat.open_thread import OpenThread
from app.chat.parameters import Parameters
from app.chat.rows import MessageRow, can_continue
from app.notices import Notices
from engine.chat.ids import new_id
from engine.chat.records import Conversation, Question, Role, Thread
from engine.chat.store import Store
from engine.chat.text import clean
from engine.errors import VrambleError


class Steering(QObject):
    """Carries commands out; each does nothing where it does not apply or while an answer runs.

    Args:
        choice_of: How the model at a path is loaded.
        now: Seconds since 1970, for ids.
    """

    def __init__(
        self,
        place: OpenThread,
        answering: Answering,
        database: ChatDatabase,
        parameters: Parameters,
        notices: Notices,
        choice_of: Callable[[Path], Choice] | None,
        now: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._place, self._answering, self._database = place, answering, database
        self._parameters, self._notices, self._choice_of, self._now = parameters, notices, choice_of, now
        self.purge_timer = QTimer(self)
        self.purge_timer.setSingleShot(True)
        self.purge_timer.setInterval(PURGE_MS)
        self.purge_timer.timeout.connect(self.purge)

    def regenerate(self, message: str = "", model: Path | None = None) -> None:
        """Answer again, as another version: the answer ``message``, by default the last one; with another model."""
        row = self._row(message)
        if row is None or row.role not in (Role.USER, Role.ASSISTANT):
            return
        answered = row.id
        choice = None
        if model is not None and self._choice_of is not None and not self._answering.has_loaded(model):
            choice = self._choice_of(model)
        self._begin(lambda store, conversation, start: store.retry(conversation, answered, start), choice)

    def edit(self, message: str, text: str) -> bool:
        """Ask ``text`` in place of the user's ``message``: a branch, the earlier one stays as a version.

        Returns:
            Whether it was taken; if not, it stays where it is being edited.
        """
        row, text = self._row(message), clean(text)
        if row is None or row.role is not Role.USER or not text.strip():
            return False
        question = Question(id=new_id(self._now()), text=text)
        edited = row.id
        return self._begin(lambda store, conversation, start: store.edit(conversation, edited, question, start))

    def go_on(self, message: str = "") -> None:
        """Go on with the last answer, which was cut: what is there stays and grows."""
        row, conversation = self._row(message), self._place.shown()
        if row is None or conversation is None or not can_continue(row) or not self._answering.can_begin(conversation):
            return
        resumed = row.id

        def taken(result: Thread | VrambleError | None) -> None:
            if isinstance(result, VrambleError):
                self._fail(result)
                return
            last = result.messages[-1] if result is not None and result.messages else None
            if last is None or last.id != resumed or not self._answering.can_begin(conversation):
                return
            settings = self._parameters.of(conversation)
            self._answering.begin(
                conversation, settings, lambda store, _start: store.resume(conversation, resumed), resumed=last
            )
            self._place.follow()

        self._database.call(lambda store: store.thread(conversation), taken)

    def branch(self, message: str) -> None:
        """Open a new conversation that begins with everything up to ``message``."""
        conversation, row = self._place.shown(), self._row(message)
        if conversation is None or row is None:
            return
        target, title = new_id(self._now()), self._place.branch_title()

        def made(result: Conversation | VrambleError | None) -> None:
            if isinstance(result, VrambleError):
                self._fail(result)
            elif result is not None:
                self._place.keep(result)
                self._place.open(result.id)

        self._database.call(lambda store: store.branch(conversation, row.id, target, title), made)

    def delete_from(self, message: str) -> None:
        """Delete ``message`` and all that follows it; an Undo is offered."""
        rows, conversation = self._place.rows(), self._place.shown()
        at = next((number for number, row in enumerate(rows) if row.id == message), None)
        if at is None or conversation is None or self._answers_here(conversation):
            return
        tip, count = rows[-1].id, len(rows) - at

        def deleted(result: Thread | VrambleError) -> None:
            if isinstance(result, VrambleError):
                self._fail(result)
                return
            self._take(conversation, result)
            self.purge_timer.start()
            self._notices.post(messages_deleted(count, lambda: self._undo(conversation, message, tip)))

        self._database.call(lambda store: store.delete_from(conversation, message), deleted)

    def show_version(self, message: str, step: int) -> None:
        """Show the next (+1) or the previous (-1) version of a message. Not while an answer is written here."""
        conversation = self._place.shown()
        if conversation is not None and not self._answers_here(conversation):
            self._database.call(
                lambda store: store.show_version(conversation, message, step),
                lambda result: self._take(conversation, result),
            )

    def purge(self) -> None:
        """Remove deleted messages for good."""
        if self.purge_timer.isActive():
            self.purge_timer.stop()
        self._notices.withdraw(DELETED)
        self._database.call(Store.purge_messages, lambda _result: None)

    def close(self) -> None:
        """The program ends: nothing is brought back any more."""
        if self.purge_timer.isActive():
            self.purge()

    def _undo(self, conversation: str, message: str, tip: str) -> None:
        if not self._answers_here(conversation):
            self._database.call(
                lambda store: store.undelete_from(conversation, message, tip),
                lambda result: self._take(conversation, result),
            )

    def _begin(self, work: Callable[..., Thread], choice: Choice | None = None) -> bool:
        conversation = self._place.shown()
        if conversation is None or not self._answering.can_begin(conversation, loads=choice is not None):
            return False
        settings = self._parameters.of(conversation)
        self._answering.begin(
            conversation, settings, lambda store, start: work(store, conversation, start), model=choice
        )
        self._place.follow()
        return True

    def _take(self, conversation: str, result: Thread | VrambleError | None) -> None:
        if isinstance(result, VrambleError):
            self._fail(result)
        elif result is not None and conversation == self._place.shown():
            self._place.show(result)

    def _fail(self, error: VrambleError) -> None:
        self._notices.post(not_opened(error))

    def _answers_here(self, conversation: str) -> bool:
        return self._answering.of(conversation) is not None

    def _row(self, message: str) -> MessageRow | None:
        rows = self._place.rows()
        return next((row for row in reversed(rows) if not message or row.id == message), None)
