"""What stands in the transcript for the messages that the model does not get any more, and what can be done with it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal

from app.chat.controller import ChatController
from app.chat.rows import MessageRow
from engine.chat.records import Role, Status
from ui.chat.summary_rows import SummaryRows
from ui.chat.transcript.commands import Asked, Command

PREFIX: Final = "summary-of-"


class SummaryBlock(QObject):
    """The row before the first message that the model gets.

    Attributes:
        rows: The messages with it.
        edit_wanted: The summary (an id for `take`, its text, what is edited in words) should be edited.
    """

    edit_wanted = Signal(str, str, str)

    def __init__(self, chat: ChatController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = chat
        self._left_out = 0
        self.rows = SummaryRows(chat.transcript, self)
        chat.summaries.changed.connect(lambda: self.show(self._left_out))

    def show(self, left_out: int) -> None:
        """So many messages at the beginning are left out now for what stands at the next one; 0: none."""
        self._left_out = left_out
        rows = self._chat.transcript.rows
        row = self._row(rows[left_out], left_out) if 0 < left_out < len(rows) else None
        self.rows.show(row, left_out)

    def carry_out(self, asked: Asked) -> bool:
        """Whether ``asked`` was about a summary."""
        if not asked.message.startswith(PREFIX):
            return False
        message, care = asked.message.removeprefix(PREFIX), self._chat.summaries
        row = self._chat.transcript.row(message)
        if asked.command is Command.SUMMARY_EDIT and row is not None:
            words = self.tr("Editing the summary. The model gets it in place of the earlier messages.")
            self.edit_wanted.emit(asked.message, row.summary, words)
        elif asked.command is Command.SUMMARY_AGAIN:
            care.remake(message)
        elif asked.command is Command.SUMMARY_REMOVE:
            care.remove(message)
        elif asked.command is Command.SUMMARY_STOP:
            care.stop()
        return True

    def take(self, name: str, text: str) -> bool:
        """``text`` was written for the summary or the sent message ``name``. False: it stays in the box."""
        if name.startswith(PREFIX):
            return self._chat.summaries.edit(name.removeprefix(PREFIX), text)
        return self._chat.steering.edit(name, text)

    def _row(self, message: MessageRow, count: int) -> MessageRow:
        making = self._chat.summaries.making
        made_here = making is not None and making.message == message.id
        if message.summary or made_here:
            words = self.tr("Summary of {} earlier messages") if count > 1 else self.tr("Summary of 1 earlier message")
        else:
            words = self.tr("{} earlier messages left out") if count > 1 else self.tr("1 earlier message left out")
        return MessageRow(
            id=PREFIX + message.id,
            role=Role.OTHER,
            text="" if made_here else message.summary,
            status=Status.STREAMING if made_here else Status.DONE,
            author=words.format(count),
            progress=making.words if making is not None and made_here else "",
            stands_for=count,
        )
