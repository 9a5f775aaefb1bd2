"""Gives the memory of a model back that nobody has used for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

from app.notices import Notice, Notices, Severity
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from app.worker.settings import WorkerSettings
from engine.client.session import WorkerState

NOTICE = "worker-idle"
LOOK_MS = 10_000


class IdleUnload(QObject):
    """Unloads after the minutes that `WorkerSettings` tells; the next message loads the model again by itself.

    The time counts from the last moment at which the worker did something. It stands still while the computer sleeps
    and while something needs the model.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        worker: WorkerService,
        settings: SettingsStore,
        notices: Notices,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._worker, self._settings, self._notices = worker, settings, notices
        self._clock = clock
        self._since = clock()
        self._needs: list[Callable[[], bool]] = []
        self._keeping = False
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.VeryCoarseTimer)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        worker.state_changed.connect(self._follow)
        worker.model_changed.connect(self._follow)
        worker.answered.connect(self.used)

    def keep_while(self, needed: Callable[[], bool]) -> None:
        """Never unload while ``needed()``: for whoever wants the model without asking the worker for anything."""
        self._needs.append(needed)

    def used(self, *_by: object) -> None:
        """Somebody uses the model now: the time begins anew."""
        self._since = self._clock()

    def look(self) -> None:
        """Unload if it is time. The caches of conversations go to the disk first."""
        if self._keeping:
            return
        minutes = self._settings.get(WorkerSettings).idle_unload_minutes
        busy = not self._worker.idle or self._worker.state is not WorkerState.READY
        if minutes == 0 or busy or any(needed() for needed in self._needs):
            self.used()
        elif self._is_over(minutes):
            self._keeping = True
            self._worker.keep_caches(lambda: self._kept(minutes))

    def _is_over(self, minutes: int) -> bool:
        return self._clock() - self._since >= minutes * 60

    def _kept(self, minutes: int) -> None:
        """A message that came meanwhile has begun the time anew."""
        self._keeping = False
        if not self._is_over(minutes) or not self._worker.idle or self._worker.model is None:
            return
        name = self._worker.model.name
        length = "a minute" if minutes == 1 else f"{minutes} minutes"
        text = f"{name} was unloaded after {length} without a message. The next message loads it again."
        self._worker.unload()
        self._notices.post(Notice(NOTICE, Severity.INFO, text))

    def _follow(self, _what: object) -> None:
        self.used()
        if self._worker.model is None:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
            self._notices.withdraw(NOTICE)
