"""Finding models: the search, the page of a repository, the catalogue. What the window of models talks to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.hub.child import HubChild
from app.hub.opened import OpenedRepo
from app.hub.pause import Pause
from app.hub.results import Results
from app.jobs import Err, Executor, Result, SerialRunner
from engine.errors import VrambleError
from engine.hub.catalogue import Room, catalogue_file, read_catalogue, recommended
from engine.hub.messages import Event, Failed, Open, Opened
from engine.hub.records import CatalogueModel, RepoPage, RepoSummary, SearchQuery
from engine.hub.room import room_of

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice

UNUSED_MS = 60_000
"""So long after the last look the child ends."""

Told = Callable[[RepoPage | VrambleError], None]


class HubService(QObject):
    """Asks the Hub through a child process, and keeps what it said.

    Args:
        folder: Cache of the child.
        executor: Reads the catalogue.
        environ: What the child is started with, as the settings say now.
        offline: Whether no socket may be opened, as the settings say now.
        machine: The devices with their room now; empty while they are not known.

    Attributes:
        results_changed: Of the search: rows, state, problem, or the seconds left to wait.
        page_changed: Of the repository that is looked at.
        catalogue_changed: The catalogue was read.
    """

    results_changed = Signal()
    page_changed = Signal()
    catalogue_changed = Signal()

    def __init__(
        self,
        folder: Path,
        executor: Executor,
        environ: Callable[[], Mapping[str, str]],
        offline: Callable[[], bool],
        machine: Callable[[], Sequence[FitDevice]],
        parent: QObject | None = None,
        *,
        catalogue: Path | None = None,
        pause: Pause | None = None,
    ) -> None:
        super().__init__(parent)
        self._offline, self._machine = offline, machine
        self._runner = SerialRunner(executor, self)
        self._child = HubChild(folder, environ, self)
        self._pause = pause or Pause(self)
        self._results = Results(self._child, self._pause, offline, self)
        self._opened = OpenedRepo(self._child, self._pause, offline, self)
        self._asked: dict[int, Told] = {}
        self._watched = self._closed = False
        self.catalogue: tuple[CatalogueModel, ...] = ()
        self._results.changed.connect(self.results_changed)
        self._opened.changed.connect(self.page_changed)
        self._child.answered.connect(self._take)
        self._unused = QTimer(self)
        self._unused.setSingleShot(True)
        self._unused.setInterval(UNUSED_MS)
        self._unused.timeout.connect(self._rest)
        path = catalogue or catalogue_file()
        self._runner.run(lambda: read_catalogue(path), self._take_catalogue)

    # ---- the search

    @property
    def query(self) -> SearchQuery:
        """What is looked for."""
        return self._results.query

    @property
    def results(self) -> tuple[RepoSummary, ...]:
        """Rows so far; those of the query before while the first ones are awaited."""
        return self._results.rows

    @property
    def searching(self) -> bool:
        """Rows are awaited."""
        return self._results.searching

    @property
    def has_more(self) -> bool:
        """There is another page."""
        return self._results.has_more

    @property
    def problem(self) -> VrambleError | None:
        """Why the search has no rows, or only kept ones."""
        return self._results.problem

    @property
    def wait_left(self) -> float | None:
        """Seconds until the Hub is asked again by itself; None when nothing waits."""
        left = self._results.wait_left
        return self._opened.wait_left if left is None else left

    @property
    def from_cache(self) -> bool:
        """The rows were kept earlier."""
        return self._results.from_cache

    @property
    def read_at(self) -> float:
        """When the Hub told the rows, in seconds since 1970; 0 before any."""
        return self._results.read_at

    def search(self, query: SearchQuery, now: bool = False) -> None:
        """Look for ``query``: when nobody has typed for a moment, or ``now``."""
        if not self._closed:
            self._results.search(query, now=now)

    def more(self) -> None:
        """The next page, for those who scroll."""
        self._results.more()

    def retry(self) -> None:
        """Ask again, past the cache."""
        self._results.retry()

    def cancel(self) -> None:
        """Stop searching, and waiting for the Hub."""
        self._results.cancel()

    # ---- a repository

    @property
    def page(self) -> RepoPage | None:
        """The repository that is looked at, None while it is not known."""
        return self._opened.page

    @property
    def opening(self) -> str:
        """Name of the repository that is being read; empty when none is."""
        return self._opened.opening

    @property
    def page_problem(self) -> VrambleError | None:
        """Why there is no page, or only a kept one."""
        return self._opened.problem

    @property
    def page_from_cache(self) -> bool:
        """The page was kept earlier."""
        return self._opened.from_cache

    def open(self, text: str) -> None:
        """Read the page of the repository that ``text`` names: ``owner/name``, or an address."""
        if not self._closed:
            self._opened.open(text)

    def refresh(self) -> None:
        """Read the page again, past the cache."""
        self._opened.refresh()

    def leave_page(self) -> None:
        """Nobody looks at a repository any more."""
        self._opened.leave()

    def look_up(self, repo: str, done: Told) -> None:
        """Read a repository's page for others than the window; ``done`` is called once, later."""
        if self._closed:
            return
        number = self._child.next_id()
        self._asked[number] = done
        offline = self._offline() or self._pause.left is not None
        self._child.ask(Open(id=number, text=repo, fresh=True, offline=offline))
        self._unused.start()

    # ---- the catalogue

    @property
    def room(self) -> int | None:
        """Bytes that the machine has for a model now; None while that is not known."""
        found = room_of(self._machine())
        return None if found is None else found.size

    def recommended(self) -> tuple[CatalogueModel, ...]:
        """Models of the catalogue that suit this machine, the strongest first; empty while its room is not known."""
        found = room_of(self._machine())
        return () if found is None else recommended(self.catalogue, Room(size=found.size, bandwidth=found.bandwidth))

    # ---- life

    def set_watched(self, watched: bool) -> None:
        """Whether a window is there that may ask: the child is started before it does, and ended some time after."""
        self._watched = watched
        if watched and not self._closed:
            self._unused.stop()
            self._child.start()
        elif not self._closed:
            self._unused.start()

    def settings_changed(self) -> None:
        """The network is reached in another way now; what is not answered yet is asked again that way."""
        self._child.renew()

    def shutdown(self) -> None:
        """End the child before this returns, and let no timer begin anything. Only for quitting."""
        self._closed = True
        self._asked.clear()
        self._unused.stop()
        self._pause.stop()
        self._results.stop()
        self._child.shutdown()
        self._runner.close()

    def _rest(self) -> None:
        if self._watched:
            return
        if self._child.busy:
            self._unused.start()
        else:
            self._child.stop()

    def _take(self, event: Event) -> None:
        done = self._asked.pop(event.id, None)
        if done is None:
            return
        if isinstance(event, Failed):
            done(event.error())
        elif isinstance(event, Opened):
            done(event.page)

    def _take_catalogue(self, result: Result[tuple[CatalogueModel, ...]]) -> None:
        if isinstance(result, Err):
            raise result.error
        self.catalogue = result.value
        self.catalogue_changed.emit()
