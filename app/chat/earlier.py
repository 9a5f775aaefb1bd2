"""The earlier messages of a long conversation, put before its end a slice at a time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel

SLICE = 300
"""Rows that are added between two turns of the event loop: some milliseconds."""


class Earlier(QObject):
    """Rows that wait to be shown, nearest to the end first."""

    def __init__(self, transcript: TranscriptModel, parent: QObject) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._waiting: list[MessageRow] = []
        self.timer = QTimer(self)
        self.timer.setInterval(0)
        self.timer.timeout.connect(self.step)

    def begin(self, rows: Sequence[MessageRow]) -> None:
        """These stand before what is shown."""
        self._waiting = list(rows)
        self.timer.start()

    def step(self) -> None:
        """Show the next slice."""
        at = max(0, len(self._waiting) - SLICE)
        slice_, self._waiting = self._waiting[at:], self._waiting[:at]
        if not self._waiting:
            self.timer.stop()
        self._transcript.prepend(slice_)

    def finish(self) -> None:
        """Show all of them now."""
        waiting, self._waiting = self._waiting, []
        self.timer.stop()
        self._transcript.prepend(waiting)

    def drop(self) -> None:
        """What is shown is about to change otherwise."""
        self._waiting = []
        self.timer.stop()
