"""The repository that is looked at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.hub.child import HubChild
from app.hub.pause import Pause
from app.hub.results import RATE_LIMITED
from engine.errors import VrambleError
from engine.hub.messages import Event, Failed, Open, Opened
from engine.hub.records import RepoPage
from engine.library.address import parse_repo


class OpenedRepo(QObject):
    """One page of one repository, or why there is none.

    Attributes:
        changed: Anything here is another one.
    """

    changed = Signal()

    def __init__(
        self, child: HubChild, pause: Pause, offline: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._child, self._pause, self._offline = child, pause, offline
        self.page: RepoPage | None = None
        self.problem: VrambleError | None = None
        self.from_cache = False
        self._text = ""
        self._asked: Open | None = None
        self._again = False
        child.answered.connect(self._take)
        pause.ticked.connect(self._tick)
        pause.over.connect(self._resume)

    @property
    def opening(self) -> str:
        """The repository that is being read; empty when none is."""
        return parse_repo(self._text).repo if self._asked is not None or self._again else ""

    @property
    def wait_left(self) -> float | None:
        """Seconds until it is asked again by itself, None when nothing waits."""
        return self._pause.left if self._again else None

    def open(self, text: str) -> None:
        """Read the page of the repository that ``text`` names. The old page goes at once."""
        self._drop()
        self.page, self.problem, self._text = None, None, text
        try:
            parse_repo(text)
        except VrambleError as error:
            self.problem = error
            self.changed.emit()
            return
        self._ask(fresh=False)

    def refresh(self) -> None:
        """Ask again, past the cache. The page stays until the answer is there."""
        if self._text:
            self._drop()
            self._ask(fresh=True)

    def leave(self) -> None:
        """Nobody looks any more."""
        self._drop()
        self.page, self.problem, self._text = None, None, ""
        self.changed.emit()

    def _drop(self) -> None:
        self._again = False
        if self._asked is not None:
            self._child.cancel(self._asked.id)
            self._asked = None

    def _ask(self, *, fresh: bool) -> None:
        waiting = self._pause.left is not None
        self._again = waiting
        offline = waiting or self._offline()
        self._asked = Open(id=self._child.next_id(), text=self._text, fresh=fresh, offline=offline)
        self._child.ask(self._asked)
        self.changed.emit()

    def _take(self, event: Event) -> None:
        if self._asked is None or event.id != self._asked.id:
            return
        self._asked = None
        failure = event if isinstance(event, Failed) else event.problem
        if isinstance(event, Opened):
            self.page, self.from_cache = event.page, event.kept
        if failure is not None and not self._again:
            self.problem = failure.error()
            if failure.code == RATE_LIMITED or failure.retry_after is not None:
                self._again = True
                self._pause.begin(failure.retry_after)
        elif failure is None:
            self.problem = None
        self.changed.emit()

    def _tick(self) -> None:
        if self._again:
            self.changed.emit()

    def _resume(self) -> None:
        if self._again:
            self._drop()
            self._ask(fresh=False)
