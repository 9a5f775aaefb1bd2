"""Starts the children of the queue: not more than wanted, each with its share of the speed limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.downloads.child import Child
from app.downloads.job import Job
from app.downloads.network import Network
from app.downloads.records import JobState
from engine.downloads.messages import Adjust, Event, Limits, Nudge


class Launcher(QObject):
    """One child for each job that runs.

    Args:
        network: Settings, and the environment of the next child.
        create_root: Whether the folder of a job may be made.

    Attributes:
        reported: Job and event; the last event of a child as well, when ``ended`` was not told yet.
        ended: Job and its child's terminal event.
        freed: A process that was ended is gone.
    """

    reported = Signal(object, object)
    ended = Signal(object, object)
    freed = Signal()

    def __init__(
        self,
        network: Network,
        create_root: Callable[[Job], bool],
        limits: Limits,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._network = network
        self._create_root = create_root
        self._limits = limits
        self._children: set[Child] = set()
        self._closed = False

    def pump(self, jobs: Sequence[Job]) -> None:
        """Start children for queued jobs, in their order, while there is room; share the speed limit out."""
        settings = self._network.settings
        if self._closed or self._network.offline:
            return
        for job in jobs:
            if sum(other.child is not None for other in jobs) >= settings.parallel:
                break
            if job.state is JobState.QUEUED and job.child is None and job.leaving is None and not job.held:
                self._launch(job, jobs)
        self.share(jobs)

    def share(self, jobs: Sequence[Job]) -> None:
        """Tell each child how much of the speed limit is its own."""
        limit = self._limit_of_each(jobs)
        for job in jobs:
            if job.child is not None and job.limit != limit:
                job.limit = limit
                job.child.tell(Adjust(limit_bytes_s=limit))

    def _limit_of_each(self, jobs: Sequence[Job]) -> int | None:
        limit = self._network.settings.limit_bytes_s
        n_running = sum(job.child is not None for job in jobs)
        return None if limit is None else max(1, limit // max(1, n_running))

    def nudge(self, jobs: Sequence[Job]) -> None:
        """The computer woke up: old connections are dead, and nothing should wait."""
        for job in jobs:
            if job.child is not None:
                job.child.tell(Nudge())

    def stop(self, job: Job, then: Callable[[], None] | None = None) -> None:
        """End the child of ``job``, keeping what is here; ``then`` is called when it is gone, at once without one."""
        child, job.child = job.child, None
        if child is None:
            if then is not None:
                then()
            return
        job.leaving = child

        def gone(_child: Child) -> None:
            job.leaving = None
            if then is not None:
                then()
            self.freed.emit()

        child.gone.connect(gone)
        child.kill()

    def shutdown(self) -> None:
        """End all children before this returns. Only for quitting."""
        self._closed = True
        for child in tuple(self._children):
            child.shutdown()
        self._children.clear()

    def _launch(self, job: Job, jobs: Sequence[Job]) -> None:
        child = Child(self, self._network.environ())
        self._children.add(child)
        child.gone.connect(self._forget)
        job.child, job.state = child, JobState.CONNECTING
        job.limit = self._limit_of_each(jobs)
        child.reported.connect(lambda event: self._report(job, child, event))
        child.ended.connect(lambda event: self._end(job, child, event))
        promised = sum(other.left for other in jobs if other.child is not None and other is not job)
        child.start(
            job.request(
                create_root=self._create_root(job),
                connections=self._network.settings.connections,
                promised=promised,
                limits=self._limits,
            )
        )

    def _report(self, job: Job, child: Child, event: Event) -> None:
        if job.child is child:
            self.reported.emit(job, event)

    def _end(self, job: Job, child: Child, event: Event) -> None:
        if job.child is child:
            job.child = None
            self.ended.emit(job, event)

    def _forget(self, child: Child) -> None:
        self._children.discard(child)
        child.deleteLater()
