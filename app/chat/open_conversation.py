"""Which conversation is open, and what of it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.chat.conversation_list import ConversationListModel
from app.chat.earlier import SLICE, Earlier
from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel
from engine.chat.records import Conversation

_TEMPORARY = ("", "temporary")
_COMING = ("", "")
"""Nothing that can be told: where the user is becomes known later."""


class OpenConversation(QObject):
    """The place where the user is: a conversation of the list, or a new chat.

    A conversation is open as soon as it is chosen; its messages are shown when they were read.
    Until then the transcript still shows those of the one before.

    Attributes:
        changed: The `Conversation` that is open now, None for a new chat; also when its title changed.
    """

    changed = Signal(object)

    def __init__(
        self, conversations: ConversationListModel, transcript: TranscriptModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._conversations, self._transcript = conversations, transcript
        self._id: str | None = None
        self._shown: str | None = None
        self._told: tuple[str, str] | None = None
        self._earlier = Earlier(transcript, self)
        self.temporary = False
        """Whether the new chat is never written to the disk when it becomes a conversation."""

    @property
    def id(self) -> str | None:
        """Id of the open conversation; None for a new chat."""
        return self._id

    @property
    def record(self) -> Conversation | None:
        """The open conversation, if it is listed."""
        return self._conversations.find(self._id)

    @property
    def is_shown(self) -> bool:
        """Whether the transcript shows the open conversation."""
        return self._id == self._shown

    def shows(self, conversation: str) -> bool:
        """Whether the transcript shows ``conversation``."""
        return self._shown == conversation

    def leave(self, *, temporary: bool = False) -> None:
        """Go to a new chat."""
        self.temporary = temporary
        self._earlier.drop()
        self._id = self._shown = None
        self._transcript.reset(())
        self.tell()

    def go(self, conversation: str) -> None:
        """Open ``conversation``; `show` follows, or `leave` when it turns out to be gone."""
        self._id, self.temporary = conversation, False
        if self.record is None:
            self._told = _COMING
        self.tell()

    def begin(self, conversation: str) -> None:
        """The new chat becomes ``conversation``. It is told when it is listed."""
        self._id = self._shown = conversation

    def show(self, conversation: str, rows: Sequence[MessageRow]) -> None:
        """Show the messages of the open conversation, or their new state. Where the end of them is shown already, the
        others come before it a slice at a time, so that a long conversation holds nothing up.
        """
        self._earlier.drop()
        if self._shown != conversation:
            self._shown = conversation
            self._transcript.reset(rows)
        elif len(rows) > SLICE and self._transcript.is_end_of(rows):
            self._earlier.begin(rows[: len(rows) - self._transcript.rowCount()])
            self._transcript.show_end(rows)
        else:
            self._transcript.show(rows)

    def show_all(self) -> None:
        """Show at once what would come by and by: one of the first messages is wanted."""
        self._earlier.finish()

    def tell(self) -> None:
        """Emit `changed` if there is something new to tell. What is not listed yet is not told."""
        record = self.record
        if record is None and self._id is not None:
            return
        new_chat = _TEMPORARY if self.temporary else None
        state = new_chat if record is None else (record.id, record.title)
        if state != self._told:
            self._told = state
            self.changed.emit(record)
