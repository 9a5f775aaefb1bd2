"""Conversations out of the database and into it, as values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from engine.chat import file_locks, giving, hidden, rows, search_index
from engine.chat.file_locks import importing
from engine.chat.ids import new_id
from engine.chat.opened import Reading
from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.portable_rows import hashed, in_order, json_of, name_of, parts_of, row_of, time_of
from engine.chat.records import Role
from engine.chat.text import clean
from engine.chat.titles import make_title, title_of
from engine.errors import VrambleError

_MESSAGE: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model, settings, stats, finish, error,"
    " thought_s, deleted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CONVERSATION: Final = (
    "INSERT INTO conversation (id, title, titled, created, updated, settings, folder, pinned, archived, deleted)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Taken(StrEnum):
    """What became of an imported conversation."""

    NEW = "new"
    MERGED = "merged"
    """It was there; it has more messages now."""
    KNOWN = "known"
    """It was there, with all messages."""
    EMPTY = "empty"
    """It has no message."""


class Exchanging(Reading):
    """The part of the store that exports and imports."""

    def whole(self, conversation: str) -> PortableConversation | None:
        """A conversation with all branches, without what is deleted; None when it is not there."""
        with self._translated():
            row = self._db.execute(
                "SELECT conversation.*, folder.title AS folder_title FROM conversation"
                " LEFT JOIN folder ON folder.id = conversation.folder WHERE conversation.id = ?",
                (conversation,),
            ).fetchone()
            if row is None:
                return None
            return giving.conversation(row, self._db)

    def every_id(self) -> list[str]:
        """All conversations that are not deleted, oldest first."""
        with self._translated():
            query = "SELECT id FROM conversation WHERE deleted IS NULL ORDER BY created, id"
            return [rows.text_of(row["id"]) for row in self._db.execute(query)]

    def take(self, given: PortableConversation) -> Taken:
        """Add a conversation. Of one that is there already only messages that are missing are added."""
        return self.take_all((given,))[0]

    def take_all(self, given: Sequence[PortableConversation], mark: float | None = None) -> list[Taken]:
        """`take` each, in one transaction. With a ``mark`` nobody sees what was added until it is revealed
        (`engine.chat.hidden`).
        """
        ordered = [in_order(one.messages) for one in given]
        with self._transaction():
            pairs = zip(given, ordered, strict=True)
            return [self._take(one, messages, mark) if messages else Taken.EMPTY for one, messages in pairs]

    def _take(
        self, given: PortableConversation, messages: list[tuple[PortableMessage, str | None]], mark: float | None
    ) -> Taken:
        id_ = name_of(given.id)
        row = self._db.execute("SELECT deleted FROM conversation WHERE id = ?", (id_,)).fetchone()
        if row is None:
            self._add_conversation(id_, given, messages, mark)
            added = self._add_messages(id_, messages, None)
            tip = added.get(given.tip or "") or next(reversed(added.values()))
            self._db.execute("UPDATE conversation SET tip = ? WHERE id = ?", (tip, id_))
            return Taken.NEW
        is_hidden = mark is not None and row["deleted"] == mark
        added = self._add_messages(id_, messages, None if is_hidden else mark)
        return Taken.MERGED if added else Taken.KNOWN

    @contextlib.contextmanager
    def import_run(self) -> Iterator[float]:
        """Gives a mark for `take_all`. What is taken with it is seen at the end, all of it, or never.

        May wait for some seconds (`file_locks.IMPORT_WAIT_SECONDS`).

        Raises:
            VrambleError: ``import-busy``.
        """
        with importing(self._path, file_locks.IMPORT_WAIT_SECONDS) as alone:
            if not alone:
                raise VrambleError("import-busy", "Another import is running.", "Try again when it has ended.")
            self._drop_all()
            mark = hidden.mark_of(self._now())
            try:
                yield mark
                self._reveal(mark)
            except BaseException:
                with contextlib.suppress(VrambleError):
                    self._drop_all()
                raise

    def drop_unfinished(self) -> bool:
        """Take out some of what an import left that was killed; whether there is more. Nothing while one runs."""
        with importing(self._path) as alone:
            return alone and self._drop_some()

    def _reveal(self, mark: float) -> None:
        with self._transaction():
            for title in hidden.folders(self._db, mark):
                hidden.file(self._db, mark, title, self._folder_called(title))
            hidden.reveal(self._db, mark)

    def _drop_some(self) -> bool:
        with self._transaction():
            return hidden.drop(self._db)

    def _drop_all(self) -> None:
        while self._drop_some():
            pass

    def _add_conversation(
        self,
        id_: str,
        given: PortableConversation,
        messages: list[tuple[PortableMessage, str | None]],
        mark: float | None,
    ) -> None:
        first = next((message.text for message, _ in messages if message.role == Role.USER), "")
        title = make_title(given.title)
        now = self._now()
        updated = time_of(given.updated) or max(time_of(message.created) for message, _ in messages) or now
        values = (
            id_,
            title or title_of(clean(first)) or None,
            given.titled if title else None,
            time_of(given.created) or updated,
            updated,
            json_of(given.settings),
            self._folder(given.folder, mark),
            now if given.pinned else None,
            now if given.archived else None,
            mark,
        )
        self._db.execute(_CONVERSATION, values)

    def _add_messages(
        self, conversation: str, messages: list[tuple[PortableMessage, str | None]], mark: float | None
    ) -> dict[str, str]:
        """Adds those that are missing; the id in the database of each that was added, by its own."""
        names = {message.id: self._message_name(conversation, message.id) for message, _ in messages}
        added: dict[str, str] = {}
        for message, parent in messages:
            name, is_there = names[message.id]
            if not is_there and name not in added.values():
                above = None if parent is None else names[parent][0]
                self._db.execute(_MESSAGE, (*row_of(message, name, conversation, above), mark))
                for position, part in parts_of(message):
                    values = (name, position, part.kind, clean(part.content))
                    self._db.execute("INSERT INTO part (message, position, kind, content) VALUES (?, ?, ?, ?)", values)
                added[message.id] = name
        search_index.enter(self._db, added.values())
        return added

    def _message_name(self, conversation: str, id_: str) -> tuple[str, bool]:
        """The id of a message in the database, and whether it is there. Ids of other conversations are taken."""
        name = name_of(id_)
        row = self._db.execute("SELECT conversation FROM message WHERE id = ?", (name,)).fetchone()
        if row is not None and row["conversation"] != conversation:
            name = hashed(conversation, id_)
            row = self._db.execute("SELECT conversation FROM message WHERE id = ?", (name,)).fetchone()
        return name, row is not None

    def _folder(self, title: str | None, mark: float | None) -> str | None:
        """What stands for the folder in the row of a conversation; a hidden one makes none yet."""
        title = make_title(title or "")
        if not title:
            return None
        return self._folder_called(title) if mark is None else hidden.FOLDER + title

    def _folder_called(self, title: str) -> str:
        row = self._db.execute("SELECT id FROM folder WHERE title = ?", (title,)).fetchone()
        if row is not None:
            return rows.text_of(row["id"])
        made = new_id(self._now())
        query = "INSERT INTO folder (id, title, created, place) SELECT ?, ?, ?, coalesce(max(place), 0) + 1 FROM folder"
        self._db.execute(query, (made, title, self._now()))
        return made
