"""Tells when a load or an answer stands still, and ends the worker when it hangs."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

from app.jobs import Ok, Result, SerialRunner
from app.notices import Action, Notice, Notices, Severity
from app.settings.store import SettingsStore
from app.worker.agenda import Job
from app.worker.connection import WorkerConnection
from app.worker.pump import Pump
from app.worker.safe_mode import SafeMode
from app.worker.settings import WorkerSettings
from engine.client.activity import Activity, read_activity
from engine.client.death_words import HANG
from engine.client.ladder import main_gpu
from engine.client.session import Verdict
from engine.client.watchdog import Limits, Standing, Watchdog
from engine.protocol.frames import Delta, Failed, Finished, Load, Progress, SelfTest

NOTICE = "worker-still"
LOOK_MS = 500
SILENCE_S = 5.0
"""After so many quiet seconds the process itself is looked at, in case it reads from a slow drive."""

ASK_AGAIN_S = 2.0
LEAST_S = 10
SHADERS = " The graphics driver may be compiling shaders, which takes long only the first time."


class StandstillGuard(QObject):
    """Watches the job that runs.

    Args:
        settings: Holds `WorkerSettings`; None: its defaults.
        notices: Where a standstill is told; None: nowhere.
        safe_mode: Gives the notice a second button.
        runner: Looks at the process off the GUI thread; None: only what the worker says counts.
        clock: Seconds, monotonic.
        activity: Looks at a process.
    """

    def __init__(
        self,
        link: WorkerConnection,
        pump: Pump,
        settings: SettingsStore | None,
        notices: Notices | None,
        safe_mode: SafeMode | None,
        runner: SerialRunner | None,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
        activity: Callable[[int], Activity] = read_activity,
    ) -> None:
        super().__init__(parent)
        self._link, self._pump = link, pump
        self._settings, self._notices, self._safe_mode = settings, notices, safe_mode
        self._runner, self._activity = runner, activity
        self.clock = clock
        self._dog = Watchdog()
        self._told = self._all_read = False
        self._asked = 0.0
        self._seen: Activity | None = None
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        pump.job_sent.connect(self._begin)
        pump.heard.connect(self._hear)
        pump.job_ended.connect(self._end)

    def look(self) -> None:
        """Judge the present job by the clock."""
        if self._link.session.hello is None:
            self._dog.stirred()  # it is still starting, which has a limit of its own
        standing = self._dog.look(self.clock())
        if standing is Standing.HUNG:
            self._link.condemn(Verdict.NO_PROGRESS)
        elif standing is Standing.STILL and not self._told:
            self._tell()
        if self._dog.quiet >= SILENCE_S:
            self._look_at_process()

    def hurry(self, seconds: float) -> None:
        """There is a reason to doubt the device: the present job gets no longer without movement."""
        self._dog.hurry(seconds)

    def _begin(self, job: Job) -> None:
        settings = WorkerSettings() if self._settings is None else self._settings.get(WorkerSettings)
        limits = Limits(load=at_least(settings.load_timeout_s), answer=at_least(settings.answer_timeout_s))
        last = self._pump.last_load
        n_batch = 1 if last is None else last[1].n_batch
        self._dog.begin(job.request, self._link.session.model, n_batch, limits, self.clock())
        self._seen, self._all_read = None, False
        self._timer.start()

    def _hear(self, event: object) -> None:
        if isinstance(event, Progress | Delta | Finished):
            self._all_read = isinstance(event, Progress) and event.stage == "load" and event.done >= event.total > 0
            self._dog.heard(event, self.clock())
            self._withdraw()

    def _end(self, _job: Job, event: object) -> None:
        self._timer.stop()
        self._withdraw()
        if isinstance(event, Failed):
            self._seen = None

    def _tell(self) -> None:
        """A quiet line: it may only be slow."""
        job, notices = self._pump.active, self._notices
        if job is None or job.quiet or notices is None:
            return
        self._told = True
        own, id_ = weakref.proxy(self), job.id
        loading = isinstance(job.request, Load)
        what = "The model" if loading else "The self-test" if isinstance(job.request, SelfTest) else "The answer"
        actions = (Action("Cancel" if loading else "Stop", lambda: own.cancel(id_)), *self._safer(job))
        text = f"{what} has not moved for {in_words(self._dog.quiet)}.{self._hint(job)}"
        notices.post(Notice(NOTICE, Severity.INFO, text, actions=actions))

    def _hint(self, job: Job) -> str:
        """All weights are read and a GPU is to compute: its driver may be at the shaders, for the first time."""
        request, hello = job.request, self._link.session.hello
        if not self._all_read or hello is None or not isinstance(request, Load):
            return ""
        return SHADERS if main_gpu(hello.devices, request.options) is not None else ""

    def cancel(self, id_: int) -> None:
        """End the job. A worker that does not answer is killed after two seconds."""
        self._pump.cancel(id_)

    def _safer(self, job: Job) -> tuple[Action, ...]:
        if self._safe_mode is None:
            return ()
        if isinstance(job.request, Load):
            return self._safe_mode.offer(Path(job.request.path), job.request.options, HANG, "")
        last = self._pump.last_load
        return () if last is None else self._safe_mode.offer(*last, HANG, "")

    def _withdraw(self) -> None:
        if self._told and self._notices is not None:
            self._notices.withdraw(NOTICE)
        self._told = False

    def _look_at_process(self) -> None:
        pid, runner, activity, now = self._link.pid, self._runner, self._activity, self.clock()
        if pid is None or runner is None or now - self._asked < ASK_AGAIN_S:
            return
        self._asked = now
        job = self._pump.active
        runner.run(lambda: activity(pid), lambda result: self._take(job, result))

    def _take(self, job: Job | None, result: Result[Activity]) -> None:
        if not isinstance(result, Ok) or job is not self._pump.active:
            return
        before, self._seen = self._seen, result.value
        if before is not None and result.value.moved_since(before):
            self._dog.stirred()
            self._withdraw()


def at_least(seconds: int) -> int:
    """A time limit that no healthy engine meets; 0 stays 0: never."""
    return max(seconds, LEAST_S) if seconds else 0


def in_words(seconds: float) -> str:
    """A duration for a sentence: ``40 seconds``, ``a minute``, ``3 minutes``."""
    if seconds < 59.5:
        return f"{seconds:.0f} seconds"
    minutes = round(seconds / 60)
    return "a minute" if minutes == 1 else f"{minutes} minutes"
