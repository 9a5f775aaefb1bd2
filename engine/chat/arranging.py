"""Where conversations stand: titles, folders, pins, archive, order by hand."""

from __future__ import annotations

from collections.abc import Sequence

from engine.chat import reading, rows
from engine.chat.opened import Reading
from engine.chat.records import TITLED_BY_MODEL, TITLED_BY_USER, Conversation, Folder
from engine.chat.titles import make_title, title_of


class Arranging(Reading):
    """The part of the store that arranges. Changes here leave `Conversation.updated` alone."""

    def rename(self, conversation: str, title: str) -> Conversation | None:
        """Give a title (one line, cut to length). A blank one brings back the title made from the first question."""
        with self._transaction():
            chosen = make_title(title)
            by = TITLED_BY_USER if chosen else None
            chosen = chosen or title_of(reading.first_question(self._db, conversation))
            query = "UPDATE conversation SET title = ?, titled = ? WHERE id = ?"
            self._db.execute(query, (chosen or None, by, conversation))
        return self.conversation(conversation)

    def entitle(self, conversation: str, title: str) -> Conversation | None:
        """Take the title that a model made, unless somebody gave another one meanwhile."""
        chosen = make_title(title)
        if chosen:
            with self._transaction():
                query = "UPDATE conversation SET title = ?, titled = ? WHERE id = ? AND titled IS NULL"
                self._db.execute(query, (chosen, TITLED_BY_MODEL, conversation))
        return self.conversation(conversation)

    def folders(self) -> list[Folder]:
        """All folders, in their order."""
        with self._translated():
            found = [rows.folder_of(row) for row in self._db.execute("SELECT * FROM folder")]
        return sorted(found, key=lambda folder: (folder.place, folder.title))

    def make_folder(self, folder: str, title: str) -> list[Folder]:
        """Make a folder below the others; nothing for a title without a visible character. All folders are returned."""
        with self._transaction():
            if chosen := make_title(title):
                query = (
                    "INSERT OR IGNORE INTO folder (id, title, created, place)"
                    " SELECT ?, ?, ?, coalesce(max(place), 0) + 1 FROM folder"
                )
                self._db.execute(query, (folder, chosen, self._now()))
        return self.folders()

    def change_folder(self, folder: str, *, title: str | None = None, folded: bool | None = None) -> list[Folder]:
        """Give a folder a title, fold it or unfold it. All folders are returned."""
        with self._transaction():
            if title is not None and (chosen := make_title(title)):
                self._db.execute("UPDATE folder SET title = ? WHERE id = ?", (chosen, folder))
            if folded is not None:
                self._db.execute("UPDATE folder SET folded = ? WHERE id = ?", (int(folded), folder))
        return self.folders()

    def remove_folder(self, folder: str) -> list[Folder]:
        """Take a folder away; its conversations are in none then. The other folders are returned."""
        with self._transaction():
            self._db.execute("UPDATE conversation SET folder = NULL, place = NULL WHERE folder = ?", (folder,))
            self._db.execute("DELETE FROM folder WHERE id = ?", (folder,))
        return self.folders()

    def order_folders(self, folders: Sequence[str]) -> list[Folder]:
        """Put the folders in this order; those that are not named keep their place."""
        with self._transaction():
            self._db.executemany(
                "UPDATE folder SET place = ? WHERE id = ?", [(float(place), id_) for place, id_ in enumerate(folders)]
            )
        return self.folders()

    def pin(self, conversations: Sequence[str], pinned: bool) -> list[Conversation]:
        """Put conversations to the top, or back; out of the archive too when they go to the top."""
        since = self._now() if pinned else None
        return self._set("pinned = ?, place = NULL" + (", archived = NULL" if pinned else ""), since, conversations)

    def archive(self, conversations: Sequence[str], archived: bool) -> list[Conversation]:
        """Put conversations out of the way, or back; they are not pinned any more."""
        return self._set("archived = ?, pinned = NULL, place = NULL", self._now() if archived else None, conversations)

    def file(self, conversations: Sequence[str], folder: str | None) -> list[Conversation]:
        """Put conversations into a folder (None: in none), where they are not pinned any more."""
        return self._set("folder = ?, pinned = NULL, place = NULL", folder, conversations)

    def order(self, conversations: Sequence[str]) -> list[Conversation]:
        """Give these, which stand in one folder or at the top, this order."""
        with self._transaction():
            self._db.executemany(
                "UPDATE conversation SET place = ? WHERE id = ?",
                [(float(place), id_) for place, id_ in enumerate(conversations)],
            )
        return self._those(conversations)

    def _set(self, what: str, value: float | str | None, conversations: Sequence[str]) -> list[Conversation]:
        with self._transaction():
            self._db.executemany(
                f"UPDATE conversation SET {what} WHERE id = ?", [(value, one) for one in conversations]
            )
        return self._those(conversations)

    def _those(self, conversations: Sequence[str]) -> list[Conversation]:
        found = [self.conversation(one) for one in conversations]
        return [one for one in found if one is not None]
