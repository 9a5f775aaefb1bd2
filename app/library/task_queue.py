"""Long work on model files, one after the other, off the GUI thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Executor, Ok, Result, SerialRunner
from app.library.tasks import LibraryTask, TaskKind, TaskState
from engine.errors import VrambleError
from engine.library.hashing import Progress, StoppedError
from engine.library.work import Outcome

PUBLISH_MS = 250
RATE_AFTER_S = 1.0

Work = Callable[[Progress], Outcome]
Done = Callable[[Outcome | VrambleError | None], None]


@dataclass
class _Job:
    task: LibraryTask
    work: Work
    done: Done
    progress: Progress
    ticket: list[None] = field(default_factory=lambda: [None])
    """Whoever takes it out, in one step, decides: the thread that it runs, a cancel that it never does."""
    begun: float | None = None


class TaskQueue(QObject):
    """Rows for a window: polled state, at most four times a second while something runs.

    Attributes:
        changed: `tasks` is another tuple now.
        ended: A `LibraryTask` that is done, failed or was cancelled.
    """

    changed = Signal()
    ended = Signal(object)

    def __init__(
        self, executor: Executor, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._runner = SerialRunner(executor, self)
        self._clock = clock
        self._jobs: list[_Job] = []
        self._next_id = 1
        self._closed = False
        self._timer = QTimer(self)
        self._timer.setInterval(PUBLISH_MS)
        self._timer.timeout.connect(self.changed)

    @property
    def tasks(self) -> tuple[LibraryTask, ...]:
        """All that were begun and not dismissed, oldest first, as they are now."""
        return tuple(self._now(job) for job in self._jobs)

    def add(self, kind: TaskKind, label: str, count: int, work: Work, done: Done) -> int:
        """Queue ``work`` and give its id. ``done`` gets the outcome, why it failed, or None when it was cancelled."""
        number = self._next_id
        self._next_id += 1
        progress = Progress(stop=lambda: self._closed)
        job = _Job(LibraryTask(id=number, kind=kind, label=label, count=count), work, done, progress)
        self._jobs.append(job)
        self._runner.run(lambda: self._run(job), lambda result: self._take(job, result))
        self._timer.start()
        self.changed.emit()
        return number

    def cancel(self, task_id: int) -> None:
        """End it: at once when it waits, at the next block when it runs. What is done by then is told as done."""
        job = self._find(task_id)
        if job is not None and job.task.state.active:
            job.progress.cancel()
            if _taken(job):
                self._end(job, None)

    def dismiss(self, task_id: int) -> None:
        """Take one that has ended off the list."""
        job = self._find(task_id)
        if job is not None and not job.task.state.active:
            self._jobs.remove(job)
            self.changed.emit()

    def shutdown(self) -> None:
        """End what runs, at its next block, and wait for the thread. Only for quitting."""
        self._closed = True
        self._timer.stop()
        self._runner.close()

    def _find(self, task_id: int) -> _Job | None:
        return next((job for job in self._jobs if job.task.id == task_id), None)

    def _run(self, job: _Job) -> Outcome:
        if self._closed or not _taken(job):
            raise StoppedError
        job.begun = self._clock()
        return job.work(job.progress)

    def _take(self, job: _Job, result: Result[Outcome]) -> None:
        if not job.task.state.active:  # it was cancelled while it waited
            return
        if isinstance(result, Ok):
            self._end(job, result.value)
        elif isinstance(result.error, StoppedError):
            self._end(job, None)
        elif isinstance(result.error, VrambleError):
            self._end(job, result.error)
        else:
            unknown = VrambleError("task-failed", "This did not work because of a fault in Vramble.", "Try again.")
            self._end(job, unknown)
            raise result.error

    def _end(self, job: _Job, outcome: Outcome | VrambleError | None) -> None:
        job.task = self._now(job)
        job.task = _ended(job.task, outcome)
        if not any(other.task.state.active for other in self._jobs):
            self._timer.stop()
        job.done(outcome)
        self.changed.emit()
        self.ended.emit(job.task)

    def _now(self, job: _Job) -> LibraryTask:
        if not job.task.state.active:
            return job.task
        done, total = job.progress.done, job.progress.total
        spent = self._clock() - job.begun if job.begun is not None else 0.0
        rate = done / spent if spent >= RATE_AFTER_S and done else None
        return msgspec.structs.replace(
            job.task,
            state=TaskState.RUNNING if job.begun is not None else TaskState.QUEUED,
            done_bytes=done,
            total_bytes=total,
            rate=rate,
            seconds_left=max(total - done, 0) / rate if rate else None,
        )


def _taken(job: _Job) -> bool:
    """Take the ticket; False: somebody else has it."""
    try:
        job.ticket.pop()
    except IndexError:
        return False
    return True


def _ended(task: LibraryTask, outcome: Outcome | VrambleError | None) -> LibraryTask:
    task = msgspec.structs.replace(task, rate=None, seconds_left=None)
    if isinstance(outcome, Outcome):
        return msgspec.structs.replace(task, state=TaskState.DONE, paths=outcome.paths, wrong=outcome.wrong)
    if outcome is None:
        return msgspec.structs.replace(task, state=TaskState.CANCELLED)
    return msgspec.structs.replace(task, state=TaskState.FAILED, error=outcome)
