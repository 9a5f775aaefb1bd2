"""Messages that are not sent yet, on their way to the disk and back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chat.database import ChatDatabase
from app.chat.throttle import Throttle
from engine.chat.records import Draft
from engine.chat.store import Store
from engine.errors import VrambleError

SAVE_MS = 1000


class Drafts(QObject):
    """Saves what is typed, at most once in `SAVE_MS`; what the disk refuses is tried again with the next change.

    Args:
        told: Gets the error when drafts cannot be saved, once until they can; then None.

    Attributes:
        loaded: Drafts of an earlier run by conversation, under None that of the new chat: once, after `load`.
    """

    loaded = Signal(object)

    def __init__(
        self, database: ChatDatabase, told: Callable[[VrambleError | None], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._database, self._told = database, told
        self._saved: dict[str | None, Draft] = {}
        self._waiting: dict[str | None, Draft] = {}
        self._is_loaded = self._failed = self._closed = False
        self.throttle = Throttle(SAVE_MS, self.save, self)

    def load(self) -> None:
        """Read the drafts. What is kept before they are here is saved after that."""
        self._database.call(Store.drafts, self._take)

    def keep(self, conversation: str | None, draft: Draft) -> None:
        """Save ``draft`` soon, in place of the one that ``conversation`` (None: the new chat) has. Blank: none."""
        if draft.blank:
            draft = Draft()
        if draft != self._waiting.get(conversation, self._saved.get(conversation, Draft())):
            self._waiting[conversation] = draft
            self.throttle.poke()

    def save(self) -> None:
        """Save what waits, now."""
        if not self._waiting or not self._is_loaded or self._closed:
            return
        changed, self._waiting = self._waiting, {}
        self._saved.update(changed)

        def saved(result: VrambleError | None) -> None:
            if isinstance(result, VrambleError):
                self._take_back(changed)
            if isinstance(result, VrambleError) is not self._failed:
                self._failed = not self._failed
                self._told(result)

        self._database.call(lambda store: store.save_drafts(changed), saved)

    def forget(self, conversation: str | None) -> None:
        """The draft became a message; the store removes it with that."""
        self._waiting.pop(conversation, None)
        self._saved.pop(conversation, None)

    def close(self) -> None:
        """Save what waits; nothing is saved after that."""
        self.throttle.stop()
        self._is_loaded = True
        self.save()
        self._closed = True

    def _take_back(self, changed: dict[str | None, Draft]) -> None:
        """``changed`` is not on the disk: it waits again, but for what was sent or written anew meanwhile."""
        for place, draft in changed.items():
            if self._saved.get(place) is draft:
                del self._saved[place]
                self._waiting.setdefault(place, draft)

    def _take(self, result: dict[str | None, Draft] | VrambleError) -> None:
        """One that cannot be read is no reason to keep new ones from the disk."""
        self._is_loaded = True
        if not isinstance(result, VrambleError):
            self._saved = {**result, **self._saved}
            self.loaded.emit(result)
        self.save()
