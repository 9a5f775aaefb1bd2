"""Work on the database that can wait: what a killed import left goes out, older texts come into the search index, words
of removed ones go out of it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.database import ChatDatabase
from engine.chat.store import Store
from engine.errors import VrambleError

FIRST_MS = 3000
"""After the start: the window comes first."""
STEP_MS = 25


class IndexUpkeep(QObject):
    """One bounded step on the database thread after the other, with room for others between.

    Attributes:
        changed: `building` changed.
    """

    changed = Signal()

    def __init__(self, database: ChatDatabase, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self.building = False
        self._dropping = self._forgetting = self._stopped = False
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(FIRST_MS)
        self.timer.timeout.connect(self.step)

    def start(self) -> None:
        """Look soon whether there is something to do."""
        self._set_building(True)
        self._dropping = self._forgetting = True
        self.timer.start(FIRST_MS)

    def purged(self, _conversations: object) -> None:
        """Texts are gone."""
        self._forgetting = True
        self._next()

    def stop(self) -> None:
        """The program ends; the next start goes on. What comes back from the database now begins no further step."""
        self._stopped = True
        self.timer.stop()
        self.building = self._forgetting = self._dropping = False

    def step(self) -> None:
        """Do the next step."""
        if self._dropping:
            self._database.call(Store.drop_unfinished, self._dropped)
        elif self._forgetting:
            self._database.call(Store.forget_words, self._forgot)
        elif self.building:
            self._database.call(Store.build_index, self._built)

    def _dropped(self, more: bool | VrambleError) -> None:
        self._dropping = more is True
        self._next()

    def _forgot(self, more: bool | VrambleError) -> None:
        self._forgetting = more is True
        self._next()

    def _built(self, more: bool | VrambleError) -> None:
        self._set_building(more is True)
        self._next()

    def _next(self) -> None:
        if not self._stopped and (self._dropping or self._forgetting or self.building):
            self.timer.start(STEP_MS)

    def _set_building(self, building: bool) -> None:
        if building is not self.building:
            self.building = building
            self.changed.emit()
