"""The store of conversations. Called on the database thread only."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from engine.chat import drafts, failures, reading, rows
from engine.chat.database import open_database, open_private, request_check
from engine.chat.migrations import MIGRATIONS, Migration
from engine.chat.records import AnswerEnd, AnswerStart, Conversation, Draft, Question, Role, Status, Thread
from engine.chat.text import clean
from engine.chat.titles import make_title, title_of
from engine.chat.tree import Tree
from engine.errors import VrambleError

UNDO_SECONDS: Final = 60.0
"""Deleted conversations younger than this survive a start: another window may still offer the undo."""

_INSERT: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model, settings)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SAVE_TEXT: Final = (
    "INSERT INTO part (message, position, kind, content) VALUES (?, 0, 'text', ?)"
    " ON CONFLICT (message, position) DO UPDATE SET content = excluded.content"
)
_SAVE_THOUGHT: Final = (
    "INSERT INTO part (message, position, kind, content) VALUES (?, -1, 'thinking', ?)"
    " ON CONFLICT (message, position) DO UPDATE SET content = excluded.content"
)
_END: Final = (
    "UPDATE message SET status = ?, model = coalesce(?, model), settings = coalesce(?, settings), stats = ?,"
    " error = ?, finish = ?, thought_s = ? WHERE id = ?"
)
_PURGE: Final = (
    "DELETE FROM draft WHERE conversation = ?",
    "DELETE FROM part WHERE message IN (SELECT id FROM message WHERE conversation = ?)",
    "DELETE FROM message WHERE conversation = ?",
    "DELETE FROM conversation WHERE id = ?",
)


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

    def ask(self, conversation: str, question: Question, answer: AnswerStart) -> Thread:
        """Append ``question`` to the shown branch and an empty answer to it; a new conversation is made.

        The first question gives the title. The question is the draft from now on: that one is removed.
        Returns the branch up to the new answer.
        """
        now, text = self._now(), clean(question.text)
        with self._transaction():
            made = self._db.execute(
                "INSERT OR IGNORE INTO conversation (id, created, updated) VALUES (?, ?, ?)", (conversation, now, now)
            )
            drafts.remove(self._db, None if made.rowcount else conversation)
            _, tip = reading.tree(self._db, conversation)
            user = (question.id, conversation, tip, Role.USER, Status.DONE, now, None, None)
            self._db.execute(_INSERT, user)
            self._db.execute(_SAVE_TEXT, (question.id, text))
            self._begin(conversation, question.id, answer, now)
            self._db.execute(
                "UPDATE conversation SET title = coalesce(title, ?) WHERE id = ?",
                (title_of(text) or None, conversation),
            )
        return self._existing_thread(conversation)

    def retry(self, conversation: str, message: str, answer: AnswerStart) -> Thread:
        """Begin another version of the answer ``message``, or an answer to the user's ``message``.

        Raises:
            VrambleError: ``message-gone`` when it is not in the conversation.
        """
        with self._transaction():
            tree = self._tree_with(conversation, message)
            parent = tree.parents[message] if tree.roles[message] == Role.ASSISTANT else message
            self._begin(conversation, parent, answer, self._now())
        return self._existing_thread(conversation)

    def save_text(self, message: str, text: str, thinking: str = "") -> bool:
        """Keep what has been generated so far; False when the message is gone."""
        with self._transaction():
            query = "UPDATE message SET status = ? WHERE id = ?"
            found = self._db.execute(query, (Status.STREAMING, message)).rowcount > 0
            if found:
                self._save_words(message, text, thinking)
        return found

    def end(self, answer: AnswerEnd) -> bool:
        """Keep the whole answer and how it ended; False when the message is gone."""
        stats, settings = _encoded(answer.stats), _encoded(answer.settings)
        how = (answer.status, answer.model, settings, stats, answer.error, answer.finish, answer.thought_s)
        with self._transaction():
            found = self._db.execute(_END, (*how, answer.id)).rowcount > 0
            if found:
                self._save_words(answer.id, answer.text, answer.thinking)
                query = "UPDATE conversation SET updated = ? WHERE id = (SELECT conversation FROM message WHERE id = ?)"
                self._db.execute(query, (self._now(), answer.id))
        return found

    def _save_words(self, message: str, text: str, thinking: str) -> None:
        self._db.execute(_SAVE_TEXT, (message, clean(text)))
        if thinking:
            self._db.execute(_SAVE_THOUGHT, (message, clean(thinking)))

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
        gone = 0
        with self._transaction():
            for conversation in conversations:
                query = "SELECT 1 FROM conversation WHERE id = ? AND deleted IS NOT NULL"
                if self._db.execute(query, (conversation,)).fetchone():
                    for statement in _PURGE:
                        self._db.execute(statement, (conversation,))
                    gone += 1
        if gone:
            with self._translated():
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone

    def _tidy(self) -> None:
        with self._transaction():
            query = "UPDATE message SET status = 'stopped' WHERE status = 'streaming'"
            self._db.execute(query)
            query = "SELECT id FROM conversation WHERE deleted IS NOT NULL AND deleted < ?"
            old = [rows.text_of(row["id"]) for row in self._db.execute(query, (self._now() - UNDO_SECONDS,))]
        self.purge(old)

    def _begin(self, conversation: str, parent: str | None, answer: AnswerStart, now: float) -> None:
        settings = _encoded(answer.settings)
        values = (answer.id, conversation, parent, Role.ASSISTANT, Status.STREAMING, now, answer.model, settings)
        self._db.execute(_INSERT, values)
        self._db.execute(_SAVE_TEXT, (answer.id, ""))
        self._db.execute("UPDATE conversation SET tip = ?, updated = ? WHERE id = ?", (answer.id, now, conversation))

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


def _encoded(value: msgspec.Struct | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
