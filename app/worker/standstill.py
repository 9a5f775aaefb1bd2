"""Tells when a load or an answer stands still, and ends the worker when nothing in it moves any more."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
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
from engine.protocol.frames import Delta, Failed, Finished, Generate, Load, Progress

NOTICE = "worker-still"
LOOK_MS = 500
SILENCE_S = 5.0
"""After so many quiet seconds the process itself is looked at, in case it reads from a slow drive."""

ASK_AGAIN_S = 2.0
LEAST_S = 10
ROOM = "room"
"""Stage of the progress of an answer that waits for room in the context, which another one has."""

SHADERS = " The graphics driver may be compiling shaders, which takes long only the first time."


@dataclass
class Watched:
    """One running job.

    ``waits``: it was told to wait for room that another answer has.
    """

    job: Job
    dog: Watchdog
    standing: Standing = Standing.MOVING
    all_read: bool = False
    waits: bool = False


class StandstillGuard(QObject):
    """Watches each job that runs by itself. The worker is ended only when all of them hang: where others go on, the
    engine works, and one that stands still can be stopped by the user.

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
        self._watched: dict[int, Watched] = {}
        self._free: list[Watchdog] = []
        self._told: tuple[int, ...] = ()
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
        """Judge the present jobs by the clock."""
        now, starting = self.clock(), self._link.session.hello is None
        for one in self._watched.values():
            if starting:
                one.dog.stirred()  # it is still starting, which has a limit of its own
            one.standing = one.dog.look(now)
        if self._hangs():
            self._link.condemn(Verdict.NO_PROGRESS)
        else:
            self._tell()
        if self._quiet() >= SILENCE_S:
            self._look_at_process()

    def hurry(self, seconds: float) -> None:
        """There is a reason to doubt the device: the present jobs get no longer without movement."""
        for one in self._watched.values():
            one.dog.hurry(seconds)

    def _hangs(self) -> bool:
        """Nothing moves any more, but for those that wait for the others."""
        watched = self._watched.values()
        hung = [one for one in watched if one.standing is Standing.HUNG]
        return bool(hung) and all(one.waits for one in watched if one not in hung)

    def _quiet(self) -> float:
        """Seconds in which nothing moved."""
        return min((one.dog.quiet for one in self._watched.values()), default=0.0)

    def _begin(self, job: Job) -> None:
        settings = WorkerSettings() if self._settings is None else self._settings.get(WorkerSettings)
        limits = Limits(load=at_least(settings.load_timeout_s), answer=at_least(settings.answer_timeout_s))
        last = self._pump.last_load
        n_batch = 1 if last is None else last[1].n_batch
        dog = self._free.pop() if self._free else Watchdog()  # it knows how fast prompts were read
        dog.begin(job.request, self._link.session.model, n_batch, limits, self.clock())
        self._watched[job.id] = Watched(job, dog)
        self._seen = None
        self._timer.start()

    def _hear(self, job: Job, event: object) -> None:
        one = self._watched.get(job.id)
        if one is None or not isinstance(event, Progress | Delta | Finished):
            return
        stage = event.stage if isinstance(event, Progress) else ""
        one.all_read = isinstance(event, Progress) and stage == "load" and event.done >= event.total > 0
        one.waits = stage == ROOM
        one.dog.heard(event, self.clock())
        one.standing = Standing.MOVING
        for other in self._watched.values():
            if other.waits and other is not one:
                other.dog.stirred()  # it moves when this one has ended
        self._withdraw()

    def _end(self, job: Job, event: object) -> None:
        one = self._watched.pop(job.id, None)
        if one is not None:
            self._free.append(one.dog)
        if not self._watched:
            self._timer.stop()
        self._withdraw()
        if isinstance(event, Failed):
            self._seen = None

    def _tell(self) -> None:
        """A quiet line: it may only be slow."""
        still = [one for one in self._watched.values() if one.standing is not Standing.MOVING and not one.job.quiet]
        told = tuple(one.job.id for one in still)
        if not still or self._notices is None or told == self._told:
            return
        self._told = told
        own, first = weakref.proxy(self), still[0]
        loading = isinstance(first.job.request, Load)
        stop = Action("Cancel" if loading else "Stop", lambda: own.cancel(*told))
        actions = (stop, *self._safer(first.job))
        quiet = in_words(max(one.dog.quiet for one in still))
        text = f"{self._subject(still)} not moved for {quiet}.{self._hint(first)}"
        self._notices.post(Notice(NOTICE, Severity.INFO, text, actions=actions))

    def _subject(self, still: list[Watched]) -> str:
        request = still[0].job.request
        if len(still) > 1:
            return f"{len(still)} answers have"
        if isinstance(request, Load):
            return "The model has"
        if isinstance(request, Generate):
            return "The answer has" if len(self._watched) == 1 else "One of the answers has"
        return "The self-test has"

    def _hint(self, one: Watched) -> str:
        """All weights are read and a GPU is to compute: its driver may be at the shaders, for the first time."""
        request, hello = one.job.request, self._link.session.hello
        if not one.all_read or hello is None or not isinstance(request, Load):
            return ""
        return SHADERS if main_gpu(hello.devices, request.options) is not None else ""

    def cancel(self, *ids: int) -> None:
        """End these jobs. A worker that does not answer is killed after two seconds."""
        for id_ in ids:
            self._pump.cancel(id_)

    def _safer(self, job: Job) -> tuple[Action, ...]:
        if self._safe_mode is None:
            return ()
        if isinstance(job.request, Load):
            return self._safe_mode.offer(Path(job.request.path), job.request.options, HANG, "")
        last = self._pump.last_load
        return () if last is None else self._safe_mode.offer(*last, HANG, "")

    def _withdraw(self) -> None:
        """What was told and moves again, or has ended, is not told any more."""
        if not self._told or all(self._is_still(id_) for id_ in self._told):
            return
        self._told = ()
        if self._notices is not None:
            self._notices.withdraw(NOTICE)

    def _is_still(self, id_: int) -> bool:
        one = self._watched.get(id_)
        return one is not None and one.standing is not Standing.MOVING

    def _look_at_process(self) -> None:
        pid, runner, activity, now = self._link.pid, self._runner, self._activity, self.clock()
        if pid is None or runner is None or now - self._asked < ASK_AGAIN_S:
            return
        self._asked = now
        jobs = self._pump.running
        runner.run(lambda: activity(pid), lambda result: self._take(jobs, result))

    def _take(self, jobs: tuple[Job, ...], result: Result[Activity]) -> None:
        if not isinstance(result, Ok) or jobs != self._pump.running:
            return
        before, self._seen = self._seen, result.value
        if before is not None and result.value.moved_since(before):
            for one in self._watched.values():
                one.dog.stirred()
                one.standing = Standing.MOVING
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
