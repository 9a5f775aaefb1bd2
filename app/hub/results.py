"""One search: its query, the rows found so far, and what is in the way."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.hub.asking import Asking
from app.hub.child import HubChild
from app.hub.pause import Pause
from engine.hub.messages import Event, Failed, Found, Open, Search
from engine.hub.query import normalised
from engine.hub.records import RepoSummary, SearchQuery

TYPING_MS = 300
"""A search begins when nobody has typed for so long."""


class Results(Asking):
    """Rows of the search that was asked for last."""

    def __init__(
        self, child: HubChild, pause: Pause, offline: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(child, pause, offline, parent)
        self.query = SearchQuery()
        self.rows: tuple[RepoSummary, ...] = ()
        self.from_cache = False
        self.read_at = 0.0
        self._cursor = ""
        self._failed: Search | None = None
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(lambda: self._ask("", fresh=False))

    @property
    def searching(self) -> bool:
        """Rows are awaited, the first ones or more of them."""
        return self._asked is not None or self._typing.isActive()

    @property
    def has_more(self) -> bool:
        """The Hub has another page."""
        return bool(self._cursor)

    def search(self, query: SearchQuery, *, now: bool) -> None:
        """Look for ``query`` in place of what was looked for. The same one again changes nothing."""
        query = normalised(query)
        if query == self.query and (self.searching or self._is_settled()):
            if now and self._typing.isActive():
                self._typing.stop()
                self._ask("", fresh=False)
            return
        self._drop()
        self.query = query
        if now:
            self._ask("", fresh=False)
        else:
            self._typing.start()
            self.changed.emit()

    def more(self) -> None:
        """Ask for the next page, unless one is on its way."""
        if self._cursor and not self.searching and self._pause.left is None:
            self._ask(self._cursor, fresh=False)

    def retry(self) -> None:
        """Ask again what failed, else the whole search, and take no kept answer."""
        cursor = self._failed.cursor if self._failed is not None else ""
        self._drop()
        self._ask(cursor, fresh=True)

    def cancel(self) -> None:
        """Want no answer any more. What is there stays."""
        self._drop()
        self.changed.emit()

    def stop(self) -> None:
        """Ask nothing any more, and tell nobody. Only for quitting."""
        self._drop()

    def _is_settled(self) -> bool:
        return self.problem is None and self.read_at > 0

    def _drop(self) -> None:
        self._typing.stop()
        super()._drop()

    def _ask(self, cursor: str, *, fresh: bool) -> None:
        def question(number: int, offline: bool) -> Search:
            return Search(id=number, query=self.query, cursor=cursor, fresh=fresh, offline=offline)

        self._send(question)

    def _show(self, asked: Search | Open, event: Event, failure: Failed | None) -> None:
        assert isinstance(asked, Search)
        self._failed = asked if failure is not None else None
        if isinstance(event, Found):
            self._add(event, further=bool(asked.cursor))
        elif not asked.cursor:
            self.rows, self._cursor, self.read_at = (), "", 0.0

    def _add(self, event: Found, *, further: bool) -> None:
        earlier = self.rows if further else ()
        names = {row.repo for row in earlier}
        self.rows = (*earlier, *(row for row in event.page.rows if row.repo not in names))
        self._cursor = event.page.cursor
        self.from_cache = event.kept
        self.read_at = event.page.read_at or time.time()

    def _ask_again(self) -> None:
        cursor = self._failed.cursor if self._failed is not None else ""
        self._drop()
        self._ask(cursor, fresh=False)
