"""Deleting: hidden first, with a way back, then removed for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.chat import branches, rows, search_index, writing
from engine.chat.opened import Reading
from engine.chat.records import Conversation, Thread

UNDO_SECONDS: Final = 60.0
"""Deleted conversations younger than this survive a start: another window may still offer the undo."""
MERGES_AT_ONCE: Final = 8
"""Steps of `search_index.forget` right after a purge: all of it in a small index."""


class Removing(Reading):
    """The part of the store that deletes."""

    def delete_from(self, conversation: str, message: str) -> Thread:
        """Hide ``message`` and all that follows it until `undelete_from` or `purge_messages`.

        Raises:
            VrambleError: ``message-gone`` when it is not in the conversation.
        """
        with self._transaction():
            tree = self._tree_with(conversation, message)
            branches.delete_from(self._db, conversation, tree, message, self._now())
        return self._existing_thread(conversation)

    def undelete_from(self, conversation: str, message: str, tip: str | None) -> Thread | None:
        """Bring back what `delete_from` hid, and show the branch to ``tip``; None when the conversation is gone."""
        with self._transaction():
            branches.undelete_from(self._db, conversation, message, tip, self._now())
        return self.thread(conversation)

    def purge_messages(self) -> int:
        """Remove messages that are deleted for good, from the log too; how many there were."""
        with self._transaction():
            gone = branches.purge(self._db, self._now())
        if gone:
            self._forget_now()
        return gone

    def delete(self, conversation: str) -> bool:
        """Hide a conversation until `undelete` or `purge`; False when it is not there."""
        with self._transaction():
            query = "UPDATE conversation SET deleted = ? WHERE id = ? AND deleted IS NULL"
            return self._db.execute(query, (self._now(), conversation)).rowcount > 0

    def undelete(self, conversation: str) -> Conversation | None:
        """Bring a deleted conversation back; None when it was purged."""
        with self._transaction():
            self._db.execute("UPDATE conversation SET deleted = NULL WHERE id = ?", (conversation,))
        return self.conversation(conversation)

    def purge(self, conversations: Sequence[str]) -> int:
        """Remove those of ``conversations`` that are deleted for good, from the log too; how many there were."""
        with self._transaction():
            gone = sum([writing.purge(self._db, conversation) for conversation in conversations])
        if gone:
            self._forget_now()
        return gone

    def _tidy(self) -> None:
        with self._transaction():
            search_index.prepare(self._db)
            query = "UPDATE message SET status = 'stopped' WHERE status = 'streaming' RETURNING id"
            stopped = [rows.text_of(row["id"]) for row in self._db.execute(query).fetchall()]
            search_index.enter(self._db, stopped)
            query = "SELECT id FROM conversation WHERE deleted IS NOT NULL AND deleted < ?"
            branches.purge(self._db, self._now() - UNDO_SECONDS)
            old = [rows.text_of(row["id"]) for row in self._db.execute(query, (self._now() - UNDO_SECONDS,))]
        self.purge(old)

    def forget_words(self) -> bool:
        """Take some of what is left of removed texts out of the search index; whether there is more to do."""
        with self._transaction():
            more = search_index.forget(self._db)
        if not more:
            self._empty_log()
        return more

    def _forget_now(self) -> None:
        """Removed words leave a small index at once, a large one by and by (`forget_words`)."""
        for _ in range(MERGES_AT_ONCE):
            with self._transaction():
                if not search_index.forget(self._db):
                    break
        self._empty_log()
