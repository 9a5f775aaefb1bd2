"""Badges of rows, reckoned a few at a time between other events, so that a long list holds up nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.fit.badges import UNKNOWN, Badge

SLICE_S = 0.006
"""CPU time for badges in one turn of the event loop."""
REST_MS = 500
"""Between two passes over the same rows: while headers are read, something new is known all the time."""


class RowBadges(QObject):
    """Knows a badge for each row that was asked for.

    Args:
        fit: Gives the badge of a file as of now.
        clock: Seconds of work done.

    Attributes:
        changed: Paths whose badges are others now, after each turn with such.
        settled: All that was wanted is known.
    """

    changed = Signal(object)
    settled = Signal()

    def __init__(
        self,
        fit: Callable[[Path], Badge],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        super().__init__(parent)
        self._fit, self._clock = fit, clock
        self._known: dict[Path, Badge] = {}
        self._waiting: dict[Path, None] = {}
        self._next: dict[Path, None] = {}
        self._turn, self._rest = QTimer(self), QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._reckon)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._again)

    def find(self, path: Path) -> Badge:
        """What is known of the row of ``path``."""
        return self._known.get(path, UNKNOWN)

    def want(self, paths: Iterable[Path]) -> None:
        """Reckon these soon, in this order; what is known of them may be old. Others that were wanted are not any more.

        While a pass goes on, another one follows for those that it has done already.
        """
        wanted = dict.fromkeys(paths)
        if self._waiting or self._rest.isActive():
            new = {path: None for path in wanted if path in self._waiting or path not in self._known}
            self._next = {path: None for path in wanted if path not in new}
            self._waiting = new
        else:
            self._waiting, self._next = wanted, {}
        if self._waiting:
            self._turn.start()
        elif self._next and not self._rest.isActive():
            self._end_pass()

    def _reckon(self) -> None:
        end = self._clock() + SLICE_S
        changed: list[Path] = []
        while self._waiting:
            path = next(iter(self._waiting))
            del self._waiting[path]
            badge = self._fit(path)
            if self._known.get(path) != badge:
                changed.append(path)
            self._known[path] = badge
            if self._clock() >= end:
                break
        if changed:
            self.changed.emit(tuple(changed))
        if not self._waiting:
            self._end_pass()

    def _end_pass(self) -> None:
        self._turn.stop()
        self._rest.start()
        self.settled.emit()

    def _again(self) -> None:
        if self._next:
            self._waiting, self._next = self._next, {}
            self._turn.start()
