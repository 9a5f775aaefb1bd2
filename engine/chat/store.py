"""The store of conversations. Called on the database thread only."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from engine.chat import branches, drafts, failures, reading, rows, writing
from engine.chat.database import open_database, open_private, request_check
from engine.chat.ids import new_id
from engine.chat.migrations import MIGRATIONS, Migration
from engine.chat.records import AnswerEnd, AnswerStart, Conversation, Draft, Question, Role, Status, Thread
from engine.chat.titles import make_title, title_of
from engine.chat.tree import Tree
from engine.errors import VrambleError

UNDO_SECONDS: Final = 60.0
"""Deleted conversations younger than this survive a start: another window may still offer the undo."""


class Store:
    """Conversations on disk. Every call is one transaction: it happened, or it did not.

    Each method raises `VrambleError` when the disk, the folder or another process is in the way
    (``disk-full``, ``read-only``, ``database-busy``, ``database-damaged``, ``disk-error``).

    Attributes:
        saved: False when nothing outlives the program (see `remarks`).
        remarks: What the user should be told about the opening.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        now: Callable[[], float],
        remarks: tuple[VrambleError, ...],
        *,
        saved: bool,
    ) -> None:
        self._db = db
        self._path = path
        self._now = now
        self.saved = saved
        self.remarks = remarks

    @classmethod
    def open(
        cls, path: Path, now: Callable[[], float] = time.time, migrations: Sequence[Migration] = MIGRATIONS
    ) -> Store:
        """Open or make the database at ``path``.

        Answers that a killed program left streaming become stopped; conversations deleted more
        than `UNDO_SECONDS` ago are purged. (A second window's running answer puts its state right
        again with its next save.)

        Raises:
            VrambleError: ``database-newer`` or ``migration-failed``; the file is untouched.
        """
        opened = open_database(path, now(), migrations)
        store = cls(opened.db, path, now, opened.remarks, saved=opened.saved)
        with contextlib.suppress(VrambleError):
            store._tidy()
        return store

    @classmethod
    def private(cls, path: Path, reason: VrambleError, now: Callable[[], float] = time.time) -> Store:
        """An empty store that ends with the program, where ``path`` could not be opened for ``reason``."""
        return cls(open_private(now()), path, now, (reason,), saved=False)

    def close(self) -> None:
        """End the connection; the log is written back into the file."""
        self._db.close()

    def conversations(self) -> list[Conversation]:
        """All that are not deleted, the one changed last first."""
        with self._translated():
            return reading.conversations(self._db)

    def conversation(self, conversation: str) -> Conversation | None:
        """One conversation, deleted or not; None when there is none."""
        with self._translated():
            return reading.conversation(self._db, conversation)

    def thread(self, conversation: str) -> Thread | None:
        """The shown branch, root first; None when the conversation does not exist."""
        with self._translated():
            return reading.thread(self._db, conversation)

    def ask(self, conversation: str, question: Question, answer: AnswerStart, settings: str | None = None) -> Thread:
        """Append ``question`` to the shown branch and an empty answer to it; a new conversation is made.

        The first question gives the title, ``settings`` are those of a conversation that is made. The question is the
        draft from now on: that one is removed. Returns the branch up to the new answer.
        """
        now = self._now()
        with self._transaction():
            writing.question(self._db, conversation, question, settings, now)
            writing.answer(self._db, conversation, question.id, answer, now)
        return self._existing_thread(conversation)

    def edit(self, conversation: str, message: str, question: Question, answer: AnswerStart) -> Thread:
        """Add ``question`` as another version of the user's ``message``, with an empty answer to it.

        Raises:
            VrambleError: ``message-gone`` when ``message`` is not in the conversation.
        """
        now = self._now()
        with self._transaction():
            parent = self._tree_with(conversation, message).parents[message]
            writing.user(self._db, conversation, parent, question, now)
            writing.answer(self._db, conversation, question.id, answer, now)
        return self._existing_thread(conversation)

    def retry(self, conversation: str, message: str, answer: AnswerStart) -> Thread:
        """Begin another version of the answer ``message``, or an answer to the user's ``message``.

        Raises:
            VrambleError: ``message-gone`` when it is not in the conversation.
        """
        with self._transaction():
            tree = self._tree_with(conversation, message)
            parent = tree.parents[message] if tree.roles[message] == Role.ASSISTANT else message
            writing.answer(self._db, conversation, parent, answer, self._now())
        return self._existing_thread(conversation)

    def resume(self, conversation: str, message: str) -> Thread:
        """Go on with the answer ``message``: it is `Status.STREAMING` again, its words stay. Returns the branch to it.

        Raises:
            VrambleError: ``message-gone`` when it is not in the conversation.
        """
        with self._transaction():
            self._tree_with(conversation, message)
            self._db.execute("UPDATE message SET status = ? WHERE id = ?", (Status.STREAMING, message))
            query = "UPDATE conversation SET tip = ?, updated = ? WHERE id = ?"
            self._db.execute(query, (message, self._now(), conversation))
        return self._existing_thread(conversation)

    def branch(self, conversation: str, message: str, target: str, title: str) -> Conversation | None:
        """Make a conversation ``target`` with copies of all messages up to ``message``, and the same settings.

        Raises:
            VrambleError: ``message-gone`` when it is not in the conversation.
        """
        now = self._now()
        with self._transaction():
            path = self._tree_with(conversation, message).path(message)
            branches.copy(self._db, conversation, path, target, make_title(title), lambda: new_id(now), now)
        return self.conversation(target)

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
            self._empty_log()
        return gone

    def set_settings(self, conversation: str, settings: str | None) -> Conversation | None:
        """Keep what the answers of a conversation are made with: JSON of the caller's."""
        with self._transaction():
            self._db.execute("UPDATE conversation SET settings = ? WHERE id = ?", (settings, conversation))
        return self.conversation(conversation)

    def save_text(self, message: str, text: str, thinking: str = "") -> bool:
        """Keep what has been generated so far; False when the message is gone."""
        with self._transaction():
            return writing.words(self._db, message, text, thinking)

    def end(self, answer: AnswerEnd) -> bool:
        """Keep the whole answer and how it ended; False when the message is gone."""
        with self._transaction():
            return writing.end(self._db, answer, self._now())

    def show_version(self, conversation: str, message: str, step: int) -> Thread:
        """Show the version ``step`` places after ``message`` (before: negative), with what was written last below it.

        Raises:
            VrambleError: ``message-gone`` when ``message`` is not in the conversation.
        """
        with self._transaction():
            tree = self._tree_with(conversation, message)
            versions = tree.versions(message)
            wanted = min(max(versions.index(message) + step, 0), len(versions) - 1)
            tip = tree.newest_leaf(versions[wanted])
            self._db.execute("UPDATE conversation SET tip = ? WHERE id = ?", (tip, conversation))
        return self._existing_thread(conversation)

    def drafts(self) -> dict[str | None, Draft]:
        """What was typed and not sent, by conversation; under None that of the new chat. Deleted ones have none."""
        with self._translated():
            return drafts.read(self._db)

    def save_drafts(self, changed: Mapping[str | None, Draft]) -> None:
        """Keep the drafts in ``changed``, those of other conversations as they are. A blank one is removed."""
        with self._transaction():
            drafts.write(self._db, changed)

    def rename(self, conversation: str, title: str) -> Conversation | None:
        """Give a title (one line, cut to length). A blank one brings back the title made from the first question."""
        with self._transaction():
            chosen = make_title(title) or title_of(reading.first_question(self._db, conversation))
            self._db.execute("UPDATE conversation SET title = ? WHERE id = ?", (chosen or None, conversation))
        return self.conversation(conversation)

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
            self._empty_log()
        return gone

    def _empty_log(self) -> None:
        with self._translated():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _tidy(self) -> None:
        with self._transaction():
            query = "UPDATE message SET status = 'stopped' WHERE status = 'streaming'"
            self._db.execute(query)
            query = "SELECT id FROM conversation WHERE deleted IS NOT NULL AND deleted < ?"
            branches.purge(self._db, self._now() - UNDO_SECONDS)
            old = [rows.text_of(row["id"]) for row in self._db.execute(query, (self._now() - UNDO_SECONDS,))]
        self.purge(old)

    def _existing_thread(self, conversation: str) -> Thread:
        thread = self.thread(conversation)
        if thread is None:
            raise _gone("The conversation is no longer there.")
        return thread

    def _tree_with(self, conversation: str, message: str) -> Tree:
        tree, _ = reading.tree(self._db, conversation)
        if message not in tree.parents:
            raise _gone("The message is no longer there.")
        return tree

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if failures.is_damage(error):
                request_check(self._path)
            told = failures.in_words(error, self._path)
            if told is None:
                raise
            raise told from error


def _gone(sentence: str) -> VrambleError:
    return VrambleError("message-gone", sentence, "Open the conversation again.")
