"""Parks the loaded model: its memory is given back, and one click loads it again as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Qt, Signal

from app.memory import pressure_words as words
from app.notices import Action, Notice, Notices, Severity
from app.worker.service import WorkerService
from engine.memory.records import MemorySnapshot
from engine.memory.room import RAM_RESERVE
from engine.protocol.frames import Failed, Loaded
from engine.protocol.types import LoadOptions, ModelInfo

WAITING_NOTICE, NOTICE = "memory-pressure", "memory-parked"
"""The first takes the place of the warning that led to it."""

ROOM_FOR_S = 30.0
"""So long there has to be room again before it is told."""

Keeper = Callable[[Callable[[], None]], None]
"""Saves what a parked model should find again (the KV cache) and then calls back, once, also when it failed."""


def keep_nothing(done: Callable[[], None]) -> None:
    """The conversation is on disk already; the prompt is computed again."""
    done()


class Parked(msgspec.Struct, frozen=True, kw_only=True):
    """A model that gave its memory back, and how it was loaded. ``size``: bytes that its process held."""

    path: Path
    options: LoadOptions
    name: str
    size: int = 0


class Parking(QObject):
    """A model that is parked, or waits for it.

    Attributes:
        changed: `Parked`, or None when it was loaded again or another model was.

    Args:
        size: Bytes that the engine holds now.
        keep: Called before a model that is idle is parked.
    """

    changed = Signal(object)

    def __init__(
        self,
        worker: WorkerService,
        notices: Notices,
        parent: QObject | None = None,
        *,
        size: Callable[[], int] = lambda: 0,
        keep: Keeper = keep_nothing,
    ) -> None:
        super().__init__(parent)
        self._worker, self._notices = worker, notices
        self._size, self._keep = size, keep
        self._parked: Parked | None = None
        self._waiting = self._keeping = False
        self._room_since: float | None = None
        self._room_told = False
        worker.model_changed.connect(self._follow_model)
        # Later: when the state changes, the worker still holds the answer that has just ended.
        worker.state_changed.connect(self.look, Qt.ConnectionType.QueuedConnection)

    @property
    def parked(self) -> Parked | None:
        """The model that `restore` loads again."""
        return self._parked

    @property
    def waiting(self) -> bool:
        """The model will be parked when nothing is asked of it any more."""
        return self._waiting

    def park(self) -> None:
        """Give the memory back as soon as no answer runs."""
        model = self._worker.model
        if model is None or self._waiting or self._parked is not None:
            return
        self._waiting = True
        self.look()
        if self._waiting and not self._keeping:
            actions = (Action(words.PARK_NOW, self.park_now), Action(words.KEEP, self.give_up))
            text = words.waiting_text(model.name)
            self._notices.post(Notice(WAITING_NOTICE, Severity.INFO, text, actions=actions))

    def park_now(self) -> None:
        """Give the memory back at once; an answer that runs is stopped, and its text stays."""
        self._end(stopped=not self._worker.idle)

    def give_up(self) -> None:
        """Do not park after all."""
        if self._waiting:
            self._waiting = False
            self._notices.withdraw(WAITING_NOTICE)

    def restore(self) -> None:
        """Load the parked model again, as it was."""
        parked = self._parked
        if parked is not None:
            self._notices.withdraw(NOTICE)
            self._worker.load(parked.path, parked.options, lambda event: self._restored(parked, event))

    def watch_room(self, snapshot: MemorySnapshot) -> None:
        """A sample while nothing is loaded: tell once when the parked model would fit again."""
        parked, available = self._parked, snapshot.ram.available
        if parked is None or self._room_told or not self._worker.idle or available is None:
            return
        if available < parked.size + RAM_RESERVE:
            self._room_since = None
            return
        self._room_since = snapshot.taken if self._room_since is None else self._room_since
        if snapshot.taken - self._room_since >= ROOM_FOR_S:
            self._room_told = True
            self._tell(Severity.INFO, words.room_again_text(parked.name))

    def look(self, _state: object = None) -> None:
        """Park if that was waited for and nothing is asked of the model any more."""
        if self._waiting and not self._keeping and self._worker.model is not None and self._worker.idle:
            self._keeping = True
            self._keep(self._kept)

    def _kept(self) -> None:
        """What should be kept is; a question that came meanwhile goes first."""
        self._keeping = False
        if self._waiting and self._worker.idle:
            self._end(stopped=False)

    def _end(self, *, stopped: bool) -> None:
        model, last = self._worker.model, self._worker.last_load
        self._waiting = self._keeping = False
        if last is None or model is None or self._parked is not None:
            return
        path, options = last
        self._parked = Parked(path=path, options=options, name=model.name, size=self._size())
        self._room_since, self._room_told = None, False
        self._worker.unload()
        self._notices.withdraw(WAITING_NOTICE)
        self._tell(Severity.INFO, words.parked_text(model.name, self._parked.size, stopped=stopped))
        self.changed.emit(self._parked)

    def _tell(self, severity: Severity, text: str, detail: str = "") -> None:
        self._notices.post(Notice(NOTICE, severity, text, detail, (Action(words.LOAD_AGAIN, self.restore),)))

    def _restored(self, parked: Parked, event: Loaded | Failed) -> None:
        if isinstance(event, Failed) and event.code not in ("cancelled", "stopped"):
            text = f"{parked.name} could not be loaded again. {event.message} {event.next_step}"
            self._tell(Severity.ERROR, text.strip(), event.detail)

    def _follow_model(self, model: ModelInfo | None) -> None:
        self._waiting = self._keeping = False
        if model is not None and self._parked is not None:
            self._parked = None
            self._notices.withdraw(NOTICE)
            self.changed.emit(None)
