"""Rows of messages that are written. Callers translate SQLite's errors and hold the transaction."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from engine.chat import drafts, reading, search_index
from engine.chat.records import AnswerEnd, AnswerStart, PartKind, Question, Role, Status
from engine.chat.text import clean
from engine.chat.titles import title_of

_MESSAGE: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model, settings)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_PART: Final = (
    "INSERT INTO part (message, position, kind, content) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (message, position) DO UPDATE SET content = excluded.content"
)
_END: Final = (
    "UPDATE message SET status = ?, model = coalesce(?, model), settings = coalesce(?, settings), stats = ?,"
    " error = ?, finish = ?, thought_s = ? WHERE id = ?"
)
_CONVERSATION: Final = "INSERT OR IGNORE INTO conversation (id, created, updated, settings) VALUES (?, ?, ?, ?)"
_PURGE: Final = (
    "DELETE FROM draft WHERE conversation = ?",
    "DELETE FROM part WHERE message IN (SELECT id FROM message WHERE conversation = ?)",
    "DELETE FROM message WHERE conversation = ?",
    "DELETE FROM conversation WHERE id = ?",
)


def question(db: sqlite3.Connection, conversation: str, asked: Question, settings: str | None, now: float) -> None:
    """Append a user's message to the shown branch; a conversation that is new is made with ``settings``."""
    made = db.execute(_CONVERSATION, (conversation, now, now, settings))
    drafts.remove(db, None if made.rowcount else conversation)
    _, tip = reading.tree(db, conversation)
    user(db, conversation, tip, asked, now)
    title = title_of(clean(asked.text)) or None
    db.execute("UPDATE conversation SET title = coalesce(title, ?) WHERE id = ?", (title, conversation))


def user(db: sqlite3.Connection, conversation: str, parent: str | None, asked: Question, now: float) -> None:
    """A user's message below ``parent``."""
    db.execute(_MESSAGE, (asked.id, conversation, parent, Role.USER, Status.DONE, now, None, None))
    _text(db, asked.id, clean(asked.text))
    search_index.enter(db, [asked.id])


def answer(db: sqlite3.Connection, conversation: str, parent: str | None, start: AnswerStart, now: float) -> None:
    """An empty answer below ``parent``; it is the tip from now on."""
    settings = encoded(start.settings)
    role, status = Role.ASSISTANT, Status.STREAMING
    db.execute(_MESSAGE, (start.id, conversation, parent, role, status, now, start.model, settings))
    _text(db, start.id, "")
    db.execute("UPDATE conversation SET tip = ?, updated = ? WHERE id = ?", (start.id, now, conversation))


def words(db: sqlite3.Connection, message: str, text: str, thinking: str) -> bool:
    """What was generated so far; False when the message is gone."""
    search_index.leave(db, [message])
    found = db.execute("UPDATE message SET status = ? WHERE id = ?", (Status.STREAMING, message)).rowcount > 0
    if found:
        _words(db, message, text, thinking)
    return found


def end(db: sqlite3.Connection, ended: AnswerEnd, now: float) -> bool:
    """The whole answer and how it ended; False when the message is gone."""
    stats, settings = encoded(ended.stats), encoded(ended.settings)
    how = (ended.status, ended.model, settings, stats, ended.error, ended.finish, ended.thought_s)
    search_index.leave(db, [ended.id])
    found = db.execute(_END, (*how, ended.id)).rowcount > 0
    if found:
        _words(db, ended.id, ended.text, ended.thinking)
        search_index.enter(db, [ended.id])
        query = "UPDATE conversation SET updated = ? WHERE id = (SELECT conversation FROM message WHERE id = ?)"
        db.execute(query, (now, ended.id))
    return found


def summary(db: sqlite3.Connection, conversation: str, message: str, text: str) -> bool:
    """What stands for the messages before ``message``; False when the message is gone."""
    query = "SELECT 1 FROM message WHERE id = ? AND conversation = ?"
    found = db.execute(query, (message, conversation)).fetchone() is not None
    if found:
        db.execute(_PART, (message, -2, PartKind.SUMMARY, clean(text)))
    return found


def purge(db: sqlite3.Connection, conversation: str) -> bool:
    """Remove a conversation that is deleted for good; False when it is not deleted, or gone."""
    query = "SELECT 1 FROM conversation WHERE id = ? AND deleted IS NOT NULL"
    if not db.execute(query, (conversation,)).fetchone():
        return False
    search_index.leave_conversation(db, conversation)
    for statement in _PURGE:
        db.execute(statement, (conversation,))
    return True


def encoded(value: msgspec.Struct | None) -> str | None:
    """A record as it is stored."""
    return None if value is None else msgspec.json.encode(value).decode()


def _words(db: sqlite3.Connection, message: str, text: str, thinking: str) -> None:
    _text(db, message, clean(text))
    if thinking:
        db.execute(_PART, (message, -1, PartKind.THINKING, clean(thinking)))


def _text(db: sqlite3.Connection, message: str, text: str) -> None:
    db.execute(_PART, (message, 0, PartKind.TEXT, text))
