"""The conversations that there are: listed, renamed, deleted and brought back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat import chat_notices
from app.chat.answering import Answering
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.deletions import Deletions
from app.chat.open_thread import OpenThread
from app.notices import Notices
from engine.chat.records import Conversation
from engine.chat.store import Store
from engine.errors import VrambleError

DAY_LOOK_MS = 600_000


class Shelf(QObject):
    """Commands on whole conversations; the list follows, and says where an answer is written.

    Args:
        failed: Told what could not be read or changed.

    Attributes:
        listed: Ids of all conversations that there are, once, at the start.
    """

    listed = Signal(object)

    def __init__(
        self,
        conversations: ConversationListModel,
        opened: OpenThread,
        answering: Answering,
        deletions: Deletions,
        database: ChatDatabase,
        notices: Notices,
        failed: Callable[[VrambleError], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversations, self._open, self._answering = conversations, opened, answering
        self._deletions, self._database, self._notices, self._failed = deletions, database, notices, failed
        self._days = QTimer(self)
        self._days.setInterval(DAY_LOOK_MS)
        self._days.timeout.connect(conversations.refresh_groups)
        answering.answers_changed.connect(self._mark_answering)

    def start(self) -> None:
        """Open the database and list the conversations."""
        self._database.remarks(self._take_remarks)
        self._database.call(Store.conversations, self._take_list)
        self._days.start()

    def close(self) -> None:
        """The program ends."""
        self._days.stop()

    def rename(self, conversation: str, title: str) -> None:
        """Give a title; a blank one brings the automatic one back."""
        self._database.call(lambda store: store.rename(conversation, title), self.take)

    def delete(self, conversation: str) -> None:
        """Delete with a way back; an answer that runs in it is stopped first."""
        was_open = conversation == self._open.place.id
        self._answering.stop(conversation)
        self._conversations.remove(conversation)
        self._deletions.delete(conversation, was_open=was_open, restore=self._open.keep)
        if was_open:
            self._open.leave()

    def undo_delete(self, conversation: str = "") -> None:
        """Bring a deleted conversation back, by default the last one; it is opened if it was open."""
        self._deletions.undo(conversation, self._undeleted)

    def take(self, result: Conversation | VrambleError | None) -> None:
        """A conversation as the store has it now."""
        if isinstance(result, VrambleError):
            self._failed(result)
        elif result is not None:
            self._open.keep(result)

    def _mark_answering(self) -> None:
        self._conversations.set_answering(self._answering.conversations)

    def _take_remarks(self, result: tuple[VrambleError, ...] | VrambleError) -> None:
        for error in (result,) if isinstance(result, VrambleError) else result:
            self._notices.post(chat_notices.remark(error))

    def _take_list(self, result: list[Conversation] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._failed(result)
            return
        self.listed.emit([conversation.id for conversation in result])
        self._conversations.reset([conversation for conversation in result if conversation.id not in self._deletions])
        self._open.place.tell()

    def _undeleted(self, conversation: Conversation, was_open: bool) -> None:
        self._open.keep(conversation)
        if was_open:
            self._open.open(conversation.id)
