"""The messages of the open conversation: from the disk to the transcript."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.chat.answering import Answering
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.deletions import Deletions
from app.chat.open_conversation import OpenConversation
from app.chat.parameters import Parameters
from app.chat.rows import MessageRow, row_of
from app.chat.running_answer import RunningAnswer
from app.chat.transcript import TranscriptModel
from app.chat.unsaved import UnsavedAnswers
from engine.chat.records import Conversation, Message, Thread
from engine.chat.store import Store
from engine.errors import VrambleError

SEEN_FIRST = 60
"""Messages at the end of a conversation that are read and shown before the others."""
_NUMBERED = re.compile(r" \((\d+)\)$")


class OpenThread(QObject):
    """Reads and shows the open conversation, with what of it is not on the disk yet.

    Args:
        failed: Told what could not be read.

    Attributes:
        moved: Another conversation is open, or an answer began in this one.
        message_wanted: Id of a message that is shown now and should be seen.
    """

    moved = Signal()
    message_wanted = Signal(str)

    def __init__(
        self,
        conversations: ConversationListModel,
        transcript: TranscriptModel,
        database: ChatDatabase,
        answering: Answering,
        unsaved: UnsavedAnswers,
        deletions: Deletions,
        parameters: Parameters,
        failed: Callable[[VrambleError], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversations, self._transcript, self._database = conversations, transcript, database
        self._answering, self._unsaved, self._deletions = answering, unsaved, deletions
        self._parameters, self._failed = parameters, failed
        self.place = OpenConversation(conversations, transcript, self)
        answering.changed.connect(self._show_running)
        answering.stored.connect(self._show_stored)
        answering.kept.connect(self.keep)
        answering.summarised.connect(self._show_summarised)

    def rows(self) -> tuple[MessageRow, ...]:
        """The messages that are shown."""
        return self._transcript.rows

    def append(self, *rows: MessageRow) -> None:
        """Show these below the others, before they are on the disk."""
        self._transcript.show([*self._transcript.rows, *rows])

    def shown(self) -> str | None:
        """The open conversation, if its messages are on the screen."""
        return self.place.id if self.place.is_shown else None

    def branch_title(self) -> str:
        """A title for a branch of the open conversation that no other has."""
        record = self.place.record
        title = _NUMBERED.sub("", record.title) if record is not None else ""
        taken = {one.title for one in self._conversations.rows}
        return next(name for number in range(2, len(taken) + 3) if (name := f"{title} ({number})") not in taken)

    def follow(self) -> None:
        """An answer began."""
        self.moved.emit()

    def leave(self, *, temporary: bool = False) -> None:
        """Go to an empty chat."""
        self.place.leave(temporary=temporary)
        self._parameters.follow(None, None)
        self.moved.emit()

    def open(self, conversation: str) -> None:
        """Show a conversation."""
        if conversation != self.place.id:
            self.place.go(conversation)
            self._parameters.follow(self.place.record, conversation)
            self.moved.emit()
            self._load_end(conversation)

    def _load_end(self, conversation: str) -> None:
        """Read the end of a conversation first, and the rest only when there is one."""

        def taken(result: Thread | VrambleError | None) -> None:
            if isinstance(result, Thread) and conversation == self.place.id:
                self.show(result)
            if not isinstance(result, Thread) or len(result.messages) >= SEEN_FIRST:
                self.load(conversation)

        self._database.call(lambda store: store.tail(conversation, SEEN_FIRST), taken)

    def open_at(self, conversation: str, message: str) -> None:
        """Show the branch of a conversation that has ``message``, there."""
        self.open(conversation)

        def taken(result: Thread | VrambleError | None) -> None:
            self.take(conversation, result)
            self.place.show_all()
            if conversation == self.place.id and self._transcript.row(message) is not None:
                self.message_wanted.emit(message)

        self._database.call(lambda store: store.show_message(conversation, message), taken)

    def load(self, conversation: str) -> None:
        """Read a conversation, and show it if it is open. Its rows are made where it is read."""

        def work(store: Store) -> tuple[Thread, list[MessageRow]] | None:
            thread = store.thread(conversation)
            return None if thread is None else (thread, [row_of(message) for message in thread.messages])

        def taken(result: tuple[Thread, list[MessageRow]] | VrambleError | None) -> None:
            if isinstance(result, tuple) and conversation == self.place.id:
                self.show(*result)
            else:
                self.take(conversation, result[0] if isinstance(result, tuple) else result)

        self._database.call(work, taken)

    def take(self, conversation: str, result: Thread | VrambleError | None) -> None:
        """What was read of ``conversation``."""
        if isinstance(result, VrambleError):
            self._failed(result)
        elif conversation == self.place.id:
            if result is None:
                self.leave()
            else:
                self.show(result)

    def show(self, thread: Thread, rows: Sequence[MessageRow] = ()) -> None:
        """Show the open conversation as it is now; ``rows``: of its messages, where they were made already."""
        made: Sequence[MessageRow | None] = rows or [None] * len(thread.messages)
        shown = [self._row(message, row) for message, row in zip(thread.messages, made, strict=True)]
        self.place.show(thread.conversation.id, shown)
        self.keep(thread.conversation)

    def keep(self, conversation: Conversation) -> None:
        """List a conversation, or its new state."""
        if conversation.id not in self._deletions:
            self._conversations.put(conversation)
            if conversation.id == self.place.id:
                self._parameters.follow(conversation, conversation.id)
            self.place.tell()

    def _row(self, message: Message, made: MessageRow | None = None) -> MessageRow:
        known = self._unsaved.laid_over(message)
        row = made if made is not None and known is message else row_of(known)
        running = self._answering.of(message.conversation)
        if running is not None and running.id == row.id:
            running.place(row)
            return running.row
        return row

    def _show_stored(self, thread: Thread) -> None:
        if self.place.id == thread.conversation.id:
            self.show(thread)
        else:
            self.keep(thread.conversation)

    def _show_summarised(self, conversation: str) -> None:
        if conversation == self.place.id:
            self.load(conversation)

    def _show_running(self, running: RunningAnswer) -> None:
        if self.place.shows(running.conversation):
            self._transcript.update(running.row)
