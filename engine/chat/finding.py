"""Search over all conversations."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Final

from engine.chat import reading, rows, search_index
from engine.chat.found import Cursor, Found, Hit, Stage
from engine.chat.opened import Reading
from engine.chat.records import Thread
from engine.chat.search_text import Chunk, chunks_of, match_of
from engine.chat.snippets import LOOKED_AT, patterns_of, snippet

PAGE: Final = 50
TITLES: Final = 20
SLICE: Final = 8000
"""Texts that one call looks through from end to end."""

_COLUMNS: Final = (
    f"SELECT part.id AS part, substr(part.content, 1, {LOOKED_AT}) AS content,"
    " message.id AS message, message.role AS role, message.created AS created,"
    " conversation.id AS conversation, conversation.title AS title, conversation.archived AS archived"
)
_JOINED: Final = (
    " CROSS JOIN message ON message.id = part.message AND message.deleted IS NULL"
    " CROSS JOIN conversation ON conversation.id = message.conversation AND conversation.deleted IS NULL"
)
_BY_WORDS: Final = (
    f"{_COLUMNS} FROM text_index CROSS JOIN part ON part.id = text_index.rowid{_JOINED}"
    " WHERE text_index MATCH ? AND text_index.rowid < ? ORDER BY text_index.rowid DESC LIMIT ?"
)
_INSIDE: Final = (
    f"{_COLUMNS} FROM part{_JOINED} WHERE part.id > ? AND part.id < ? AND part.kind = 'text' {{likes}}"
    " ORDER BY part.id DESC LIMIT ?"
)
_TITLES: Final = (
    "SELECT id, title, updated, archived FROM conversation WHERE deleted IS NULL {likes} ORDER BY updated DESC LIMIT ?"
)
_LARGEST: Final = 2**63 - 1


class Finding(Reading):
    """The part of the store that searches."""

    def search(self, query: str, after: Cursor | None = None) -> Found:
        """What was found of ``query``, newest first: titles, then words by the index, then what is inside of words.

        One call gives one page or takes one bounded step; with `Found.cursor` the next one goes on. A query is plain
        text: words that all have to be there, "side by side" in quotation marks; the last one may be the beginning
        of a word, others with an asterisk.
        """
        chunks = chunks_of(query)
        if not chunks:
            return Found()
        with self._translated():
            if after is None:
                return self._begin(chunks)
            if after.stage is Stage.WORDS:
                return self._by_words(chunks, after.below, ())
            return self._inside(chunks, after.below)

    def build_index(self) -> bool:
        """Put some older texts into the search index; whether there are more."""
        with self._transaction():
            return search_index.build(self._db)

    def unindexed(self) -> int:
        """Texts that the search by words does not know yet, at most; 0: it knows all."""
        with self._translated():
            return search_index.state(self._db).below

    def show_message(self, conversation: str, message: str) -> Thread | None:
        """Show the branch that has ``message``; None when it is gone."""
        with self._transaction():
            tree, tip = reading.tree(self._db, conversation)
            if message not in tree.parents:
                return None
            if message not in tree.path(tip):
                end = tree.newest_leaf(message)
                self._db.execute("UPDATE conversation SET tip = ? WHERE id = ?", (end, conversation))
        return self.thread(conversation)

    def _begin(self, chunks: Sequence[Chunk]) -> Found:
        titles = self._titles(chunks)
        return self._by_words(chunks, _LARGEST, titles)

    def _titles(self, chunks: Sequence[Chunk]) -> tuple[Hit, ...]:
        likes, patterns = _likes("title", chunks)
        found = self._db.execute(_TITLES.format(likes=likes), (*patterns, TITLES)).fetchall()
        patterns_here = patterns_of(chunks)
        return tuple(_title_hit(row, rows.text_of(row["title"]), patterns_here) for row in found)

    def _by_words(self, chunks: Sequence[Chunk], below: int, before: tuple[Hit, ...]) -> Found:
        match = match_of(tuple(chunks))
        found: list[sqlite3.Row] = []
        if match:
            found = self._db.execute(_BY_WORDS, (match, below, PAGE)).fetchall()
        patterns = patterns_of(chunks)
        hits = [_hit(row, patterns) for row in found if _has_literals(row, chunks)]
        full = len(found) == PAGE
        cursor = Cursor(Stage.WORDS, int(found[-1]["part"])) if full else Cursor(Stage.INSIDE, _LARGEST)
        return Found((*before, *hits), cursor)

    def _inside(self, chunks: Sequence[Chunk], below: int) -> Found:
        """One slice of all texts, looked through; what the index finds too is left out."""
        floor = self._floor(below)
        likes, patterns = _likes("part.content", chunks)
        query = _INSIDE.format(likes=likes)
        found = self._db.execute(query, (floor, below, *patterns, PAGE)).fetchall()
        known = self._known(chunks, found)
        marks = patterns_of(chunks)
        hits = tuple(_hit(row, marks) for row in found if row["part"] not in known)
        if len(found) == PAGE:
            return Found(hits, Cursor(Stage.INSIDE, int(found[-1]["part"])))
        return Found(hits, Cursor(Stage.INSIDE, floor + 1) if floor > 0 else None)

    def _floor(self, below: int) -> int:
        query = "SELECT id FROM part WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        row = self._db.execute(query, (below, SLICE - 1)).fetchone()
        return 0 if row is None else int(row["id"]) - 1

    def _known(self, chunks: Sequence[Chunk], found: Sequence[sqlite3.Row]) -> set[int]:
        """Numbers of those in ``found`` that the search by words has given already."""
        match = match_of(tuple(chunks))
        if not match or not found:
            return set()
        first, last = int(found[-1]["part"]), int(found[0]["part"])
        query = "SELECT rowid FROM text_index WHERE text_index MATCH ? AND rowid BETWEEN ? AND ?"
        known = {int(row[0]) for row in self._db.execute(query, (match, first, last))}
        return {row["part"] for row in found if row["part"] in known and _has_literals(row, chunks)}


def _has_literals(row: sqlite3.Row, chunks: Sequence[Chunk]) -> bool:
    """Whether the text has those pieces that the index cannot know."""
    content = rows.text_of(row["content"])
    return all(chunk.indexed or chunk.text in content for chunk in chunks)


def _hit(row: sqlite3.Row, patterns: Sequence[re.Pattern[str]]) -> Hit:
    line, marks = snippet(rows.text_of(row["content"]), patterns)
    return Hit(
        conversation=rows.text_of(row["conversation"]),
        title=rows.text_of(row["title"]),
        message=rows.text_of(row["message"]),
        role=rows.text_of(row["role"]),
        time=rows.seconds_of(row["created"]),
        line=line,
        marks=marks,
        archived=row["archived"] is not None,
    )


def _title_hit(row: sqlite3.Row, title: str, patterns: Sequence[re.Pattern[str]]) -> Hit:
    line, marks = snippet(title, patterns)
    return Hit(
        conversation=rows.text_of(row["id"]),
        title=title,
        time=rows.seconds_of(row["updated"]),
        line=line,
        marks=marks,
        archived=row["archived"] is not None,
    )


def _likes(column: str, chunks: Sequence[Chunk]) -> tuple[str, list[str]]:
    """Conditions that ``column`` has every piece, and their values. SQLite itself knows no case beyond ASCII."""
    conditions, values = "", []
    for chunk in chunks:
        forms = dict.fromkeys([chunk.text] if chunk.text.isascii() else _forms(chunk.text))
        conditions += " AND (" + " OR ".join([f"{column} LIKE ? ESCAPE '\\'"] * len(forms)) + ")"
        values += [f"%{_escaped(form)}%" for form in forms]
    return conditions, values


def _forms(text: str) -> list[str]:
    return [text, text.lower(), text.upper(), text.capitalize()]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
