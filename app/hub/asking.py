"""One question to the Hub at a time: asked, answered or refused, and asked again when it may be."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.hub.child import HubChild
from app.hub.pause import Pause
from engine.errors import VrambleError
from engine.hub.messages import Event, Failed, Open, Search

RATE_LIMITED = "hub-rate-limited"


class Asking(QObject):
    """What the search and the page of a repository have in common.

    While the Hub is to be left alone only what is kept is asked for, and when that is over it is asked by itself.

    Args:
        offline: Whether no socket may be opened.

    Attributes:
        changed: Anything here is another one.
        problem: Why there is no answer, or only a kept one.
    """

    changed = Signal()

    def __init__(
        self, child: HubChild, pause: Pause, offline: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._child, self._pause, self._offline = child, pause, offline
        self.problem: VrambleError | None = None
        self._asked: Search | Open | None = None
        self._again = False
        child.answered.connect(self._take)
        pause.ticked.connect(self._tick)
        pause.over.connect(self._resume)

    @property
    def wait_left(self) -> float | None:
        """Seconds until it is asked again by itself, None when nothing waits."""
        return self._pause.left if self._again else None

    def _drop(self) -> None:
        """Want no answer any more."""
        self._again = False
        if self._asked is not None:
            self._child.cancel(self._asked.id)
            self._asked = None

    def _send(self, question: Callable[[int, bool], Search | Open]) -> None:
        """Ask what ``question`` makes of a number and of whether only what is kept is wanted."""
        if self._asked is not None:
            self._child.cancel(self._asked.id)
        waiting = self._pause.left is not None
        self._again = waiting
        self._asked = question(self._child.next_id(), waiting or self._offline())
        self._child.ask(self._asked)
        self.changed.emit()

    def _take(self, event: Event) -> None:
        asked = self._asked
        if asked is None or event.id != asked.id:
            return
        self._asked = None
        failure = event if isinstance(event, Failed) else event.problem
        if not self._again:  # else what is kept was asked for, and the reason for that stays
            self.problem = failure.error() if failure is not None else None
            if failure is not None and (failure.code == RATE_LIMITED or failure.retry_after is not None):
                self._again = True
                self._pause.begin(failure.retry_after)
        self._show(asked, event, failure)
        self.changed.emit()

    def _show(self, asked: Search | Open, event: Event, failure: Failed | None) -> None:
        """Keep what ``event`` tells as the answer to ``asked``."""
        raise NotImplementedError

    def _ask_again(self) -> None:
        """Ask what was refused."""
        raise NotImplementedError

    def _tick(self) -> None:
        if self._again:
            self.changed.emit()

    def _resume(self) -> None:
        if self._again:
            self._ask_again()
