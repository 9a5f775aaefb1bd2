"""The downloads in their order. Knows neither processes nor signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.downloads.job import Job
from app.downloads.keeping import Found
from app.downloads.records import JobState
from engine.downloads.queue_file import KeptJob, Order
from engine.errors import VrambleError


class Queue:
    """All jobs of this run, what comes first is started first."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._next_id = 1

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs))

    def __contains__(self, job: object) -> bool:
        return job in self._jobs

    @property
    def jobs(self) -> tuple[Job, ...]:
        """In order."""
        return tuple(self._jobs)

    def find(self, job_id: int) -> Job | None:
        """By its id."""
        return next((job for job in self._jobs if job.number == job_id), None)

    def unfinished(self, order: Order) -> Job | None:
        """The job that does the same and is not done."""
        return next((job for job in self._jobs if job.order.key == order.key and job.state is not JobState.DONE), None)

    def add(self, order: Order) -> Job:
        """A new last job; one that did the same is forgotten. Raises VrambleError: a name is not safe to use."""
        job = Job(self._next_id, order)
        self._next_id += 1
        self._jobs = [old for old in self._jobs if old.order.key != order.key]
        self._jobs.append(job)
        return job

    def put(self, job: Job) -> None:
        """Take ``job`` in again, unless another one does the same."""
        if job not in self._jobs and self.unfinished(job.order) is None:
            self._jobs.append(job)

    def remove(self, job: Job) -> None:
        """Forget ``job``."""
        self._jobs.remove(job)

    def move(self, job: Job, index: int) -> None:
        """Put ``job`` at place ``index``."""
        self._jobs.remove(job)
        self._jobs.insert(max(0, index), job)

    def restore(self, found: Iterable[Found]) -> None:
        """Take in what earlier runs left, before what was started meanwhile."""
        own, self._jobs = self._jobs, []
        taken = {job.order.key for job in own}
        for one in found:
            if one.job.order.key in taken:
                continue
            try:
                job = self.add(one.job.order)
            except VrambleError:
                continue  # its name is not safe any more
            job.state, job.error, job.done = JobState(one.job.stand.value), one.job.error, one.done
            job.total = one.job.total if one.job.total is not None else job.total
        self._jobs += own

    def kept(self) -> list[KeptJob]:
        """For the queue's file."""
        return [job.kept() for job in self._jobs if job.state is not JobState.DONE]
