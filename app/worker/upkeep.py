"""What looks after the worker by itself: after a sleep, when nobody uses it, when its memory does not come back."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.notices import Notices
from app.power.sleep import SleepWatch
from app.settings.store import SettingsStore
from app.worker.freed import FreedCheck
from app.worker.idle import IdleUnload
from app.worker.resume import ResumeCheck
from app.worker.service import WorkerService


class Upkeep(QObject):
    """Holds the three of them."""

    def __init__(
        self,
        worker: WorkerService,
        settings: SettingsStore,
        notices: Notices,
        sleep: SleepWatch,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.resume = ResumeCheck(worker, sleep, notices, self)
        self.idle = IdleUnload(worker, settings, notices, self)
        self.freed = FreedCheck(worker, notices, self)
