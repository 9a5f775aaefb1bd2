"""Follows the memory while a model is loaded, warns before it is used up, and parks the model where that is wished."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.memory import pressure_words as words
from app.memory.parking import WAITING_NOTICE, Keeper, Parking, keep_nothing
from app.memory.service import MemoryService
from app.memory.settings import MemorySettings, Park
from app.notices import Action, Notice, Notices, Severity
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.memory.pressure import Level, PressureMeter, Shortage, rank
from engine.memory.records import MemorySnapshot
from engine.protocol.types import ModelInfo

NOTICE = WAITING_NOTICE
GUARD_MS, NEAR_MS = 5000, 1000
"""How often memory is looked at while a model is loaded and nobody watches; and when a sign of pressure shows."""

QUIET_S = 30 * 60.0
"""After its notice was closed a shortage is not told again for so long, unless it becomes critical."""

APART_S = 60.0
"""Between two notices of the same shortage, should it come and go."""

GRACE_S = 10.0
"""Loading itself moves much memory: only what is critical counts so soon after it."""


class PressureWatch(QObject):
    """What it does is `MemorySettings.park`. A running answer is waited for; only where the system is about to end
    programs, and the setting allows it, the answer is stopped, and its text stays.

    Attributes:
        changed: `Shortage`, when its level changed.

    Args:
        keep: Called before a model that is idle is parked.
        clock: Seconds, monotonic, the same as that of the samples.
    """

    changed = Signal(object)

    def __init__(
        self,
        memory: MemoryService,
        worker: WorkerService,
        settings: SettingsStore,
        notices: Notices,
        parent: QObject | None = None,
        *,
        keep: Keeper = keep_nothing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._memory, self._worker, self._settings, self._notices = memory, worker, settings, notices
        self._clock = clock
        self.parking = Parking(worker, notices, self, size=lambda: self._shortage.held, keep=keep)
        self._meter = PressureMeter()
        self._shortage = Shortage()
        self._loaded_at = self._told_at = self._quiet_until = float("-inf")
        self._told = Level.CALM
        self._spared = False
        memory.sampled.connect(self.take)
        worker.model_changed.connect(self._follow_model)
        notices.closed.connect(self._closed)
        self.parking.changed.connect(self._spare)

    @property
    def shortage(self) -> Shortage:
        """The verdict of the last sample."""
        return self._shortage

    def take(self, snapshot: MemorySnapshot) -> None:
        """A new sample."""
        if self._worker.model is None or self.parking.parked is not None:
            self.parking.watch_room(snapshot)
            return
        before, self._shortage = self._shortage, self._meter.take(snapshot)
        self._memory.guard(NEAR_MS if self._shortage.near else GUARD_MS)
        self.parking.look()
        if before.level is not self._shortage.level:
            self.changed.emit(self._shortage)
        if self._shortage.level is Level.CALM:
            self._calm()
        else:
            self._short()

    def _calm(self) -> None:
        if not self._shortage.near:
            self._spared = False
        if self._told is not Level.CALM:
            self._told = Level.CALM
            if not self.parking.waiting:
                self._notices.withdraw(NOTICE)
        if self._mode is Park.AUTOMATICALLY:
            self.parking.give_up()

    def _short(self) -> None:
        critical = self._shortage.level is Level.CRITICAL
        if not critical and self._clock() - self._loaded_at < GRACE_S:
            return
        if self._mode is Park.AUTOMATICALLY and critical:
            self.parking.park_now()
        elif self._mode is Park.AUTOMATICALLY and not self._spared:
            self.parking.park()
        elif self._mode is not Park.NEVER or critical:
            self._tell(offered=self._mode is not Park.NEVER)

    @property
    def _mode(self) -> Park:
        return self._settings.get(MemorySettings).park

    def _tell(self, *, offered: bool) -> None:
        now, level, model = self._clock(), self._shortage.level, self._worker.model
        if rank(level) <= rank(self._told) or self.parking.waiting or model is None:
            return
        if level is not Level.CRITICAL and (now < self._quiet_until or now - self._told_at < APART_S):
            return
        self._told, self._told_at = level, now
        severity = Severity.ERROR if level is Level.CRITICAL else Severity.WARN
        actions = (Action(words.PARK, self.parking.park),) if offered else ()
        text = words.shortage_text(self._shortage, model.name, offered=offered)
        self._notices.post(Notice(NOTICE, severity, text, actions=actions))

    def _follow_model(self, model: ModelInfo | None) -> None:
        self._meter.reset()
        self._shortage, self._told = Shortage(), Level.CALM
        self._notices.withdraw(NOTICE)
        self._memory.guard(None if model is None else GUARD_MS)
        if model is None:
            self._spared = False
        else:
            self._loaded_at = self._clock()

    def _spare(self, parked: object) -> None:
        """Who loads a parked model again wants it: until memory was enough once, only what is critical parks it."""
        if parked is None:
            self._spared = True

    def _closed(self, key: str) -> None:
        if key == NOTICE and not self.parking.waiting and self._worker.model is not None:
            self._quiet_until = self._clock() + QUIET_S
