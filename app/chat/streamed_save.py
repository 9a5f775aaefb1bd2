"""Saves an answer while it is written."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.answer_words import AnswerWords
from app.chat.database import ChatDatabase
from app.chat.throttle import Throttle
from engine.errors import VrambleError

SAVE_MS = 700
"""With the time a save takes, well below the promised second."""


class StreamedSave(QObject):
    """Saves what is there at most every `SAVE_MS`, one save at a time: a slow disk gets fewer, not a queue of them.

    Args:
        message: Id of the answer.
        words: Read when a save begins.

    Attributes:
        failed: A save failed (`VrambleError`); the text is still in ``words``.
    """

    failed = Signal(object)

    def __init__(
        self, message: str, database: ChatDatabase, words: Callable[[], AnswerWords], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._message, self._database, self._words = message, database, words
        self._saving = self._again = self._over = False
        self._throttle = Throttle(SAVE_MS, self._save, self)

    @property
    def timer(self) -> QTimer:
        """Runs between two saves."""
        return self._throttle.timer

    def poke(self) -> None:
        """There is more to save."""
        self._throttle.poke()

    def stop(self) -> None:
        """The end of the answer is saved elsewhere."""
        self._over = True
        self._throttle.stop()

    def _save(self) -> None:
        if self._saving:
            self._again = True
            return
        self._saving = True
        words, message = self._words(), self._message
        text, thought = words.text, words.thought
        self._database.call(lambda store: store.save_text(message, text, thought), self._saved)

    def _saved(self, result: bool | VrambleError) -> None:
        self._saving = False
        if self._over:
            return
        if isinstance(result, VrambleError):
            self.failed.emit(result)
        if self._again:
            self._again = False
            self._throttle.poke()
