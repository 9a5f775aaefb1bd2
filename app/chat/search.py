"""Search over all conversations while somebody types."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.chat.database import ChatDatabase
from engine.chat.found import Cursor, Found, Hit
from engine.errors import VrambleError

ENOUGH = 50
"""So many hits are looked for unasked; `Search.more` asks for others."""


class Search(QObject):
    """One query at a time. A newer one waits for the running step only, never for all of it.

    Attributes:
        changed: `hits`, `query`, `searching` or `problem` changed.
    """

    changed = Signal()

    def __init__(self, database: ChatDatabase, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self._hits: list[Hit] = []
        self._cursor: Cursor | None = None
        self._asked = self._wanted = ""
        self._running = False
        self._enough = ENOUGH
        self.problem: VrambleError | None = None

    @property
    def query(self) -> str:
        """What is searched for; "" nothing."""
        return self._wanted

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found so far, newest first, titles before all."""
        return tuple(self._hits)

    @property
    def first_word(self) -> str:
        """What of the query stands in the text as it is, to be shown there."""
        words = self._wanted.replace('"', " ").replace("*", " ").split()
        return words[0] if words else ""

    @property
    def searching(self) -> bool:
        """Whether more may be found without being asked for."""
        return self._running or self._wanted != self._asked

    @property
    def has_more(self) -> bool:
        """Whether `more` may find more."""
        return self._cursor is not None

    def ask(self, query: str) -> None:
        """Search for ``query``; a blank one ends the search."""
        query = query.strip()
        if query == self._wanted:
            return
        self._wanted = query
        if not query:
            self._asked, self._hits, self._cursor, self.problem = "", [], None, None
        elif not self._running:
            self._begin()
        self.changed.emit()

    def more(self) -> None:
        """Look for another page."""
        if self._cursor is not None and not self._running:
            self._enough = len(self._hits) + ENOUGH
            self._step()
            self.changed.emit()

    def _begin(self) -> None:
        self._asked, self._cursor, self._enough = self._wanted, None, ENOUGH
        self._run(self._asked, None)

    def _step(self) -> None:
        self._run(self._asked, self._cursor)

    def _run(self, query: str, after: Cursor | None) -> None:
        self._running = True

        def found(result: Found | VrambleError) -> None:
            self._take(query, after, result)

        self._database.call(lambda store: store.search(query, after), found)

    def _take(self, query: str, after: Cursor | None, result: Found | VrambleError) -> None:
        self._running = False
        if query != self._wanted:
            if self._wanted:
                self._begin()
            return
        if isinstance(result, VrambleError):
            self.problem, self._cursor = result, None
        else:
            self.problem, self._cursor = None, result.cursor
            self._hits = [*(self._hits if after is not None else ()), *result.hits]
            if result.cursor is not None and len(self._hits) < self._enough:
                self._step()
        self.changed.emit()
