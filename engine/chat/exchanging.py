"""Conversations out of the database and into it, as values."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

import msgspec

from engine.chat import giving, rows, search_index
from engine.chat.ids import new_id
from engine.chat.opened import Reading
from engine.chat.portable import PortableConversation, PortableMessage, PortablePart
from engine.chat.records import Role, Status
from engine.chat.text import clean
from engine.chat.titles import make_title, title_of

LATEST: Final = 1e11
"""Seconds since 1970 of a time that is no time any more."""
_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
_MESSAGE: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model, settings, stats, finish, error,"
    " thought_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CONVERSATION: Final = (
    "INSERT INTO conversation (id, title, titled, created, updated, settings, folder, pinned, archived)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
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
        messages = _in_order(given.messages)
        if not messages:
            return Taken.EMPTY
        id_ = _name(given.id)
        with self._transaction():
            known = self._db.execute("SELECT 1 FROM conversation WHERE id = ?", (id_,)).fetchone() is not None
            if not known:
                self._add_conversation(id_, given, messages)
            added = self._add_messages(id_, messages)
            if not known:
                tip = added.get(given.tip or "") or next(reversed(added.values()))
                self._db.execute("UPDATE conversation SET tip = ? WHERE id = ?", (tip, id_))
        if not known:
            return Taken.NEW
        return Taken.MERGED if added else Taken.KNOWN

    def _add_conversation(
        self, id_: str, given: PortableConversation, messages: list[tuple[PortableMessage, str | None]]
    ) -> None:
        first = next((message.text for message, _ in messages if message.role == Role.USER), "")
        title = make_title(given.title)
        now = self._now()
        updated = _time(given.updated) or max(_time(message.created) for message, _ in messages) or now
        values = (
            id_,
            title or title_of(clean(first)) or None,
            given.titled if title else None,
            _time(given.created) or updated,
            updated,
            _json(given.settings),
            self._folder(given.folder),
            now if given.pinned else None,
            now if given.archived else None,
        )
        self._db.execute(_CONVERSATION, values)

    def _add_messages(self, conversation: str, messages: list[tuple[PortableMessage, str | None]]) -> dict[str, str]:
        """Adds those that are missing; the id in the database of each that was added, by its own."""
        names = {message.id: self._message_name(conversation, message.id) for message, _ in messages}
        added: dict[str, str] = {}
        for message, parent in messages:
            name, is_there = names[message.id]
            if not is_there and name not in added.values():
                above = None if parent is None else names[parent][0]
                self._db.execute(_MESSAGE, _row(message, name, conversation, above))
                for position, part in _parts(message):
                    values = (name, position, part.kind, clean(part.content))
                    self._db.execute("INSERT INTO part (message, position, kind, content) VALUES (?, ?, ?, ?)", values)
                added[message.id] = name
        search_index.enter(self._db, added.values())
        return added

    def _message_name(self, conversation: str, id_: str) -> tuple[str, bool]:
        """The id of a message in the database, and whether it is there. Ids of other conversations are taken."""
        name = _name(id_)
        row = self._db.execute("SELECT conversation FROM message WHERE id = ?", (name,)).fetchone()
        if row is not None and row["conversation"] != conversation:
            name = hashed(conversation, id_)
            row = self._db.execute("SELECT conversation FROM message WHERE id = ?", (name,)).fetchone()
        return name, row is not None

    def _folder(self, title: str | None) -> str | None:
        title = make_title(title or "")
        if not title:
            return None
        row = self._db.execute("SELECT id FROM folder WHERE title = ?", (title,)).fetchone()
        if row is not None:
            return rows.text_of(row["id"])
        made = new_id(self._now())
        query = "INSERT INTO folder (id, title, created, place) SELECT ?, ?, ?, coalesce(max(place), 0) + 1 FROM folder"
        self._db.execute(query, (made, title, self._now()))
        return made


def hashed(*words: str) -> str:
    """An id that is always the same for these words."""
    return "i" + hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:22]


def _name(id_: str) -> str:
    return id_ if _NAME.fullmatch(id_) else hashed(id_)


def _in_order(messages: Iterable[PortableMessage]) -> list[tuple[PortableMessage, str | None]]:
    """Each message once, with its parent, parents first; one whose parent is missing or below it follows the one
    before it."""
    known: dict[str, PortableMessage] = {}
    for message in messages:
        known.setdefault(message.id, message)
    placed: dict[str, str | None] = {}
    last: str | None = None
    for message in known.values():
        for one in _upwards(message, known, placed):
            parent = one.parent
            if parent is not None and parent not in placed:
                parent = last
            placed[one.id] = parent
            last = one.id
    return [(known[id_], parent) for id_, parent in placed.items()]


def _upwards(
    message: PortableMessage, known: dict[str, PortableMessage], placed: dict[str, str | None]
) -> list[PortableMessage]:
    """``message`` and those above it that have no place yet, topmost first."""
    chain: list[PortableMessage] = []
    seen: set[str] = set()
    at: PortableMessage | None = message
    while at is not None and at.id not in placed and at.id not in seen:
        seen.add(at.id)
        chain.append(at)
        at = known.get(at.parent) if at.parent is not None else None
    chain.reverse()
    return chain


def _parts(message: PortableMessage) -> list[tuple[int, PortablePart]]:
    """The parts with places of their own; without any an empty text."""
    placed: dict[int, PortablePart] = {}
    for part in message.parts or (PortablePart(),):
        position = part.position if abs(part.position) < 2**31 else 0
        while position in placed:
            position += 1
        placed[position] = part
    return sorted(placed.items())


def _row(message: PortableMessage, name: str, conversation: str, parent: str | None) -> tuple[object, ...]:
    return (
        name,
        conversation,
        parent,
        clean(message.role)[:64] or Role.USER,
        Status.STOPPED if message.status == Status.STREAMING else clean(message.status)[:64] or Status.DONE,
        _time(message.created),
        _line(message.model),
        _json(message.settings),
        _json(message.stats),
        _line(message.finish),
        _line(message.error),
        message.thought_s if message.thought_s is not None and math.isfinite(message.thought_s) else None,
    )


def _line(text: str | None) -> str | None:
    return None if text is None else clean(text)[:1000]


def _time(seconds: float) -> float:
    return float(seconds) if math.isfinite(seconds) and 0 < seconds < LATEST else 0.0


def _json(value: Any) -> str | None:
    """None also for what is no text: half a character in it."""
    try:
        return None if value is None else clean(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:
        return None
