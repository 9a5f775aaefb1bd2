"""The store of conversations. Called on the database thread only."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from engine.chat import branches, drafts, failures, reading, search_index, writing
from engine.chat.arranging import Arranging
from engine.chat.connection import reading_only
from engine.chat.database import open_database, open_private
from engine.chat.exchanging import Exchanging
from engine.chat.file_locks import Hold, in_use
from engine.chat.finding import Finding
from engine.chat.ids import new_id
from engine.chat.migrations import MIGRATIONS, Migration
from engine.chat.records import AnswerEnd, AnswerStart, Conversation, Draft, Question, Role, Status, Thread
from engine.chat.removing import UNDO_SECONDS as UNDO_SECONDS
from engine.chat.removing import Removing
from engine.chat.titles import make_title
from engine.errors import VrambleError


class Store(Removing, Arranging, Finding, Exchanging):
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
        hold: Hold | None = None,
    ) -> None:
        super().__init__(db, path, now)
        self._hold = hold
        self.saved = saved
        self.remarks = remarks

    @classmethod
    def open(
        cls,
        path: Path,
        now: Callable[[], float] = time.time,
        migrations: Sequence[Migration] = MIGRATIONS,
        *,
        tidy: bool = True,
    ) -> Store:
        """Open or make the database at ``path``.

        Answers that a killed program left streaming become stopped; conversations deleted more
        than `UNDO_SECONDS` ago are purged. (A second window's running answer puts its state right
        again with its next save.) Without ``tidy`` all stays as it is: for a helper of a window that runs.

        Raises:
            VrambleError: ``database-newer`` or ``migration-failed``; the file is untouched. ``database-busy`` while it
                is being replaced.
        """
        hold = in_use(path, make_folder=True)
        try:
            opened = open_database(path, now(), migrations)
        except BaseException:
            hold.release()
            raise
        store = cls(opened.db, path, now, opened.remarks, saved=opened.saved, hold=hold)
        if tidy:
            with contextlib.suppress(VrambleError):
                store._tidy()
        return store

    @classmethod
    @contextlib.contextmanager
    def reader(cls, path: Path, now: Callable[[], float] = time.time) -> Iterator[Store]:
        """A second connection that only reads, for long work on another thread while the first one goes on.

        Raises:
            VrambleError: It cannot be opened.
        """
        uri = f"{path.absolute().as_uri()}?mode=ro"
        hold = in_use(path)
        try:
            db = reading_only(sqlite3.connect(uri, uri=True, isolation_level=None))
        except sqlite3.Error as error:
            hold.release()
            raise failures.in_words(error, path) or error from error
        with contextlib.closing(cls(db, path, now, (), saved=False, hold=hold)) as store:
            yield store

    @classmethod
    def private(cls, path: Path, reason: VrambleError, now: Callable[[], float] = time.time) -> Store:
        """An empty store that ends with the program, where ``path`` could not be opened for ``reason``."""
        return cls(open_private(now()), path, now, (reason,), saved=False)

    def close(self) -> None:
        """End the connection; the log is written back into the file."""
        self._db.close()
        if self._hold is not None:
            self._hold.release()

    def conversations(self) -> list[Conversation]:
        """All that are not deleted, the one changed last first."""
        with self._translated():
            return reading.conversations(self._db)

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
            search_index.leave(self._db, [message])
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
            search_index.enter_conversation(self._db, target)
        return self.conversation(target)

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

    def keep_summary(self, conversation: str, message: str, text: str) -> bool:
        """Keep what the model made of all messages before ``message``; False when that one is gone."""
        with self._transaction():
            return writing.summary(self._db, conversation, message, text)

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
