"""Folders, pins, archive and order: commands of the user, and what they made of the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.chat.database import ChatDatabase
from engine.chat.ids import new_id
from engine.chat.records import Conversation, Folder
from engine.chat.store import Store
from engine.chat.temporary import is_temporary
from engine.errors import VrambleError


class Arrangement(QObject):
    """Carries commands out and hands changed conversations on. Temporary conversations stay where they are.

    Args:
        keep: Lists a conversation as it is now.
        failed: Told what could not be changed.
        now: Seconds since 1970, for ids.

    Attributes:
        folders_changed: `folders` are others now.
        folder_made: Id of a folder that was made just now.
    """

    folders_changed = Signal()
    folder_made = Signal(str)

    def __init__(
        self,
        database: ChatDatabase,
        keep: Callable[[Conversation], None],
        failed: Callable[[VrambleError], None],
        now: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._database, self._keep, self._failed, self._now = database, keep, failed, now
        self.folders: tuple[Folder, ...] = ()

    def load(self) -> None:
        """Read the folders."""
        self._database.call(Store.folders, self._take_folders)

    def folder(self, id_: str | None) -> Folder | None:
        """The folder with this id."""
        return next((folder for folder in self.folders if folder.id == id_), None)

    def make_folder(self, title: str, conversations: Sequence[str] = ()) -> None:
        """Make a folder, and put conversations into it."""
        made, wanted = new_id(self._now()), _lasting(conversations)

        def work(store: Store) -> tuple[list[Folder], list[Conversation]]:
            return store.make_folder(made, title), store.file(wanted, made) if wanted else []

        def taken(result: tuple[list[Folder], list[Conversation]] | VrambleError) -> None:
            self._take_both(result)
            if self.folder(made) is not None:
                self.folder_made.emit(made)

        self._database.call(work, taken)

    def rename_folder(self, folder: str, title: str) -> None:
        """Give a folder another title; a blank one changes nothing."""
        self._database.call(lambda store: store.change_folder(folder, title=title), self._take_folders)

    def fold(self, folder: str, folded: bool) -> None:
        """Show or hide what is in a folder."""
        self._database.call(lambda store: store.change_folder(folder, folded=folded), self._take_folders)

    def remove_folder(self, folder: str, inside: Sequence[str]) -> None:
        """Take a folder away; the conversations ``inside`` are in none then."""

        def removed(store: Store) -> tuple[list[Folder], list[Conversation]]:
            folders = store.remove_folder(folder)
            found = [store.conversation(one) for one in inside]
            return folders, [one for one in found if one is not None]

        self._database.call(removed, self._take_both)

    def order_folders(self, folders: Sequence[str]) -> None:
        """Give the folders this order."""
        self._database.call(lambda store: store.order_folders(folders), self._take_folders)

    def pin(self, conversations: Sequence[str], pinned: bool) -> None:
        """Put conversations to the top, or back."""
        wanted = _lasting(conversations)
        self._database.call(lambda store: store.pin(wanted, pinned), self._take)

    def archive(self, conversations: Sequence[str], archived: bool) -> None:
        """Put conversations out of the way, or back."""
        wanted = _lasting(conversations)
        self._database.call(lambda store: store.archive(wanted, archived), self._take)

    def file(self, conversations: Sequence[str], folder: str | None, order: Sequence[str] = ()) -> None:
        """Put conversations into a folder, None: in none. ``order``: of all that stand there then."""
        wanted = _lasting(conversations)

        def work(store: Store) -> list[Conversation]:
            store.file(wanted, folder)
            return store.order(order) if order else store.file(wanted, folder)

        self._database.call(work, self._take)

    def pin_at(self, conversations: Sequence[str], order: Sequence[str]) -> None:
        """Put conversations to the top, in the ``order`` of all that stand there then."""
        wanted = _lasting(conversations)

        def work(store: Store) -> list[Conversation]:
            known = {one.id for one in store.conversations() if one.pinned is not None}
            store.pin([one for one in wanted if one not in known], True)
            return store.order(order)

        self._database.call(work, self._take)

    def _take_both(self, result: tuple[list[Folder], list[Conversation]] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._failed(result)
        else:
            self._take_folders(result[0])
            self._take(result[1])

    def _take(self, result: list[Conversation] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._failed(result)
            return
        for conversation in result:
            self._keep(conversation)

    def _take_folders(self, result: list[Folder] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._failed(result)
        elif tuple(result) != self.folders:
            self.folders = tuple(result)
            self.folders_changed.emit()


def _lasting(conversations: Sequence[str]) -> list[str]:
    return [one for one in conversations if not is_temporary(one)]
