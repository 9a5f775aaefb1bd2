"""Makes the queue go: starts what can be started, follows it, keeps it, and tells of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.downloads.awake import KeepAwake
from app.downloads.file_work import FileWork
from app.downloads.job import Job
from app.downloads.keeping import Found, Keeping
from app.downloads.launcher import Launcher
from app.downloads.network import Network
from app.downloads.queue import Queue
from app.downloads.records import DownloadJob, JobState
from app.downloads.ticker import Ticker
from app.power.sleep import SleepWatch
from engine.downloads.messages import Event, Failed, Limits


class Running(QObject):
    """Everything behind the commands of the service.

    Attributes:
        told: The jobs look otherwise; at most four times a second.
        finished: A `DownloadJob` that is done or has failed.
        queue: The jobs. Whoever changes them calls `changed`.
        work: For jobs that wait for their files.
        launcher: Their children.
    """

    told = Signal()
    finished = Signal(object)

    def __init__(
        self,
        keeping: Keeping,
        network: Network,
        create_root: Callable[[Job], bool],
        limits: Limits,
        clock: Callable[[], float],
        awake: KeepAwake,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._keeping, self._network, self._clock, self._awake = keeping, network, clock, awake
        self._closed = self._restored = False
        self.queue = Queue()
        self.work = FileWork(self.queue, keeping, self)
        self.work.changed.connect(self.changed)
        self.work.failed.connect(self._fail)
        self.launcher = Launcher(network, create_root, limits, self)
        self.launcher.reported.connect(self._take)
        self.launcher.ended.connect(self._end)
        self.launcher.freed.connect(self.changed)
        self._sleep = SleepWatch(None, self)
        self._sleep.resumed.connect(lambda _slept: self.launcher.nudge(self.queue.jobs))
        self._ticker = Ticker(lambda: any(job.state is JobState.WAITING for job in self.queue), self)
        self._ticker.told.connect(self.told)
        keeping.found.connect(self._restore)
        keeping.load()

    def snapshots(self) -> tuple[DownloadJob, ...]:
        """All jobs in the order of the queue, as they are now."""
        now, hub = self._clock(), self._network.hub
        why = "Offline mode is on." if self._network.offline else ""
        return tuple(job.snapshot(now, hub, why) for job in self.queue)

    def changed(self) -> None:
        """The queue is another one. Nothing starts before it is known what earlier runs left."""
        if self._restored and not self._closed:
            self.launcher.pump(self.queue.jobs)
            self._keeping.save(self.queue.kept())
            busy = any(job.child is not None for job in self.queue)
            self._sleep.set_watched(busy)
            self._awake.set_wanted(busy and self._network.settings.inhibit_sleep)
        self._ticker.publish()

    def settings_changed(self, feature: str) -> None:
        """Other limits, or another network."""
        if feature != "download":
            return
        if self._network.offline:
            for job in self.queue:
                if job.child is not None:
                    job.reset()
                    self.launcher.stop(job)
        self.changed()

    def shutdown(self) -> None:
        """End all children, keeping partial files and the queue, before this returns. Only for quitting."""
        self._closed = True
        self._ticker.stop()
        self._sleep.set_watched(False)
        self._awake.shutdown()
        self.launcher.shutdown()
        if self._restored:
            self._keeping.save(self.queue.kept())
        self._keeping.close()

    def _restore(self, found: tuple[Found, ...]) -> None:
        self.queue.restore(found)
        self.work.look_up_again()
        self._restored = True
        self.changed()

    def _take(self, job: Job, event: Event) -> None:
        job.take(event, self._clock())
        self._ticker.publish()

    def _end(self, job: Job, event: Event) -> None:
        job.take(event, self._clock())
        self.changed()
        self.finished.emit(job.snapshot(self._clock(), self._network.hub))

    def _fail(self, job: Job, why: Failed) -> None:
        job.take(why, self._clock())
        self.changed()
