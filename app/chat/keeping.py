"""Finding and keeping: search, folders, titles, exports and imports, put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from app.chat.arrangement import Arrangement
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.exchange import Exchange
from app.chat.index_upkeep import IndexUpkeep
from app.chat.search import Search
from app.chat.side_list import SideListModel
from app.chat.titling import Titling
from app.jobs import SerialRunner
from app.settings.store import SettingsStore
from engine.chat.records import Conversation
from engine.errors import VrambleError


class Keeping(QObject):
    """What the list at the left is made of, beside the conversations themselves.

    Args:
        path: Of the database.
        runner: For files.
        keep: Lists a conversation as it is now.
        failed: Told what could not be done.
        now: Seconds since 1970.
    """

    def __init__(
        self,
        conversations: ConversationListModel,
        database: ChatDatabase,
        path: Path,
        runner: SerialRunner,
        settings: SettingsStore,
        keep: Callable[[Conversation], None],
        failed: Callable[[VrambleError], None],
        now: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversations, self._database, self._failed = conversations, database, failed
        self.arrangement = Arrangement(database, keep, failed, now, self)
        self.rows = SideListModel(conversations, self.arrangement, self)
        self.search = Search(database, self)
        self.titling = Titling(database, settings, conversations.find, keep, now(), self)
        self.upkeep = IndexUpkeep(database, self)
        self.exchange = Exchange(path, runner, self.reload, self)

    def start(self) -> None:
        """Read the folders; look after the index later."""
        self.arrangement.load()
        self.upkeep.start()

    def close(self) -> None:
        """The program ends."""
        self.upkeep.stop()
        self.exchange.close()

    def reload(self) -> None:
        """List everything again: conversations came from elsewhere."""
        self.arrangement.load()
        self._database.call(lambda store: store.conversations(), self._take)
        self.upkeep.start()

    def _take(self, result: list[Conversation] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._failed(result)
        else:
            self._conversations.reset(result)
