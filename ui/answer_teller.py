"""Tells the user who is elsewhere that a long answer has ended."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.chat.controller import ChatController
from app.chat.summaries import WISH
from app.desktop.service import Note
from app.worker.agenda import Answered
from app.worker.service import WorkerService
from engine.protocol.types import FinishReason, GenerationStats
from ui.notify import Notifier
from ui.single_instance import bring_up

LONG_S = 15.0
"""Seconds from which an answer is worth a notification."""
LONGEST_TEXT = 160
"""Characters of the answer that the notification shows."""


class AnswerTeller(QObject):
    """A notification with the beginning of the answer; a click shows the conversation.

    Of a temporary conversation nothing is told but that there is an answer.
    """

    def __init__(self, worker: WorkerService, chat: ChatController, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._chat, self._notifier, self._window = chat, notifier, window
        worker.answered.connect(self._ended)

    def _ended(self, answered: Answered) -> None:
        finished, messages = answered.finished, answered.request.messages
        if finished.reason is FinishReason.CANCELLED or seconds_of(finished.stats) < LONG_S:
            return
        if messages and messages[-1].content == WISH:
            return  # a summary, which the answer itself follows
        name = answered.request.conversation
        text = " ".join(answered.text.split())
        shown = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
        if answered.request.temporary or not name:
            shown = ""  # desktops keep what they have shown
        note = Note(key=f"answer-{name}", title=self._title(name), text=shown)
        self._notifier.tell(note, lambda _action: self._show(name))

    def _title(self, name: str) -> str:
        rows = self._chat.conversations.rows
        return next((row.title for row in rows if row.id == name and row.title), self.tr("The answer is there"))

    def _show(self, name: str) -> None:
        bring_up(self._window)
        if name:
            self._chat.open(name)


def seconds_of(stats: GenerationStats) -> float:
    """How long an answer took, from its request to its last token, seconds."""
    decode = (stats.generated_tokens - 1) / stats.decode_tps if stats.decode_tps > 0 else 0.0
    return stats.ttft_ms / 1000 + decode
