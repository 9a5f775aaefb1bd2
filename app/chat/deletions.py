"""Deleted conversations between the deletion and the end of its undo."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.database import ChatDatabase
from engine.chat.records import Conversation
from engine.errors import VrambleError

PURGE_MS = 20_000
"""Longer than any undo is offered."""


class Deletions(QObject):
    """Hides, brings back, and at last removes for good.

    Attributes:
        purged: Ids of conversations that are gone for good.
    """

    purged = Signal(object)

    def __init__(self, database: ChatDatabase, failed: Callable[[VrambleError], None], parent: QObject) -> None:
        super().__init__(parent)
        self._database, self._failed = database, failed
        self._were_open: dict[str, bool] = {}
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(PURGE_MS)
        self.timer.timeout.connect(self.purge)

    def __contains__(self, conversation: str) -> bool:
        return conversation in self._were_open

    def delete(self, conversation: str, *, was_open: bool, restore: Callable[[Conversation], None]) -> None:
        """Hide ``conversation``. When that cannot be saved, ``restore`` gets it back."""
        self._were_open[conversation] = was_open
        self.timer.start()

        def deleted(result: bool | VrambleError) -> None:
            if isinstance(result, VrambleError):
                self._were_open.pop(conversation, None)
                self._failed(result)
                self._database.call(lambda store: store.conversation(conversation), given_back)

        def given_back(result: Conversation | VrambleError | None) -> None:
            if isinstance(result, Conversation):
                restore(result)

        self._database.call(lambda store: store.delete(conversation), deleted)

    def undo(self, conversation: str, done: Callable[[Conversation, bool], None]) -> None:
        """Bring ``conversation`` back, or the one that was deleted last; ``done`` gets it and whether it was open."""
        wanted = conversation or next(reversed(self._were_open), "")
        if wanted not in self._were_open:
            return

        def undone(result: Conversation | VrambleError | None) -> None:
            if isinstance(result, VrambleError):
                self._failed(result)
                return
            was_open = self._were_open.pop(wanted, False)
            if result is not None:
                done(result, was_open)

        self._database.call(lambda store: store.undelete(wanted), undone)

    def purge(self) -> None:
        """Remove for good what is still deleted."""
        self.timer.stop()
        gone = list(self._were_open)

        def purged(result: int | VrambleError) -> None:
            """A failure is none of the user's business: the next start tries again."""
            for conversation in gone:
                self._were_open.pop(conversation, None)
            if not isinstance(result, VrambleError):
                self.purged.emit(gone)

        if gone:
            self._database.call(lambda store: store.purge(gone), purged)
