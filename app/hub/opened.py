"""The repository that is looked at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.hub.asking import Asking
from app.hub.child import HubChild
from app.hub.pause import Pause
from engine.errors import VrambleError
from engine.hub.messages import Event, Failed, Open, Opened, Search
from engine.hub.records import RepoPage
from engine.library.address import parse_repo


class OpenedRepo(Asking):
    """One page of one repository, or why there is none."""

    def __init__(
        self, child: HubChild, pause: Pause, offline: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(child, pause, offline, parent)
        self.page: RepoPage | None = None
        self.from_cache = False
        self._text = ""

    @property
    def opening(self) -> str:
        """The repository that is being read; empty when none is."""
        return parse_repo(self._text).repo if self._asked is not None or self._again else ""

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

    def _ask(self, *, fresh: bool) -> None:
        self._send(lambda number, offline: Open(id=number, text=self._text, fresh=fresh, offline=offline))

    def _show(self, _asked: Search | Open, event: Event, _failure: Failed | None) -> None:
        if isinstance(event, Opened):
            self.page, self.from_cache = event.page, event.kept

    def _ask_again(self) -> None:
        self._drop()
        self._ask(fresh=False)
