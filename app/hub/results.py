"""One search: its query, the rows found so far, and what is in the way."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.hub.child import HubChild
from app.hub.pause import Pause
from engine.errors import VrambleError
from engine.hub.messages import Event, Failed, Found, Search
from engine.hub.query import normalised
from engine.hub.records import RepoSummary, SearchQuery

TYPING_MS = 300
"""A search begins when nobody has typed for so long."""

RATE_LIMITED = "hub-rate-limited"


class Results(QObject):
    """Rows of the search that was asked for last.

    Args:
        offline: Whether no socket may be opened.

    Attributes:
        changed: Anything here is another one.
    """

    changed = Signal()

    def __init__(
        self, child: HubChild, pause: Pause, offline: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._child, self._pause, self._offline = child, pause, offline
        self.query = SearchQuery()
        self.rows: tuple[RepoSummary, ...] = ()
        self.problem: VrambleError | None = None
        self.from_cache = False
        self.read_at = 0.0
        self._cursor = ""
        self._asked: Search | None = None
        self._failed: Search | None = None
        self._again = False
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(lambda: self._ask("", fresh=False))
        child.answered.connect(self._take)
        pause.ticked.connect(self._tick)
        pause.over.connect(self._resume)

    @property
    def searching(self) -> bool:
        """Rows are awaited, the first ones or more of them."""
        return self._asked is not None or self._typing.isActive()

    @property
    def has_more(self) -> bool:
        """The Hub has another page."""
        return bool(self._cursor)

    @property
    def wait_left(self) -> float | None:
        """Seconds until it is asked again by itself, None when nothing waits."""
        return self._pause.left if self._again else None

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

    def _is_settled(self) -> bool:
        return self.problem is None and self.read_at > 0

    def _drop(self) -> None:
        self._typing.stop()
        self._again = False
        if self._asked is not None:
            self._child.cancel(self._asked.id)
            self._asked = None

    def _ask(self, cursor: str, *, fresh: bool) -> None:
        waiting = self._pause.left is not None
        if self._asked is not None:
            self._child.cancel(self._asked.id)
        self._again = waiting
        self._asked = Search(
            id=self._child.next_id(),
            query=self.query,
            cursor=cursor,
            fresh=fresh,
            offline=waiting or self._offline(),
        )
        self._child.ask(self._asked)
        self.changed.emit()

    def _take(self, event: Event) -> None:
        asked = self._asked
        if asked is None or event.id != asked.id:
            return
        self._asked = None
        failure = event if isinstance(event, Failed) else event.problem
        self._failed = asked if failure is not None else None
        if isinstance(event, Found):
            self._show(event, further=bool(asked.cursor))
        if failure is not None:
            self.problem = failure.error()
            if failure.code == RATE_LIMITED or failure.retry_after is not None:
                self._again = True
                self._pause.begin(failure.retry_after)
        elif not self._again:
            self.problem = None
        if isinstance(event, Failed) and not asked.cursor:
            self.rows, self._cursor, self.read_at = (), "", 0.0
        self.changed.emit()

    def _show(self, event: Found, *, further: bool) -> None:
        earlier = self.rows if further else ()
        names = {row.repo for row in earlier}
        self.rows = (*earlier, *(row for row in event.page.rows if row.repo not in names))
        self._cursor = event.page.cursor
        self.from_cache = event.kept
        self.read_at = event.page.read_at or time.time()

    def _tick(self) -> None:
        if self._again:
            self.changed.emit()

    def _resume(self) -> None:
        if self._again:
            cursor = self._failed.cursor if self._failed is not None else ""
            self._drop()
            self._ask(cursor, fresh=False)
