"""Gives the worker one job after the other, or several answers at once, and each its events and its one end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.worker.agenda import Agenda, Job
from app.worker.connection import WorkerConnection
from app.worker.loads import Loads
from engine.client.session import WorkerDeath, WorkerState
from engine.protocol.frames import Delta, Failed, FromWorker, Generate, Hello, Load, Progress, Terminal
from engine.protocol.types import LoadOptions

TURN = "turn"
"""Stage of the progress of an answer that waits until another one has ended."""

NO_MODEL = ("no-model", "No model is loaded.", "Choose a model first.")


class Pump(QObject):
    """As many answers run at once as the model was loaded for, all else alone; a load goes first and ends what runs.

    Attributes:
        job_sent: The worker was given a `Job`.
        heard: A `Job` that runs and an event of it; the job itself hears it afterwards.
        job_ended: `Job` and its terminal event, before the job's own ``done`` is called.
        loads: How loads are sent.
    """

    job_sent = Signal(object)
    heard = Signal(object, object)
    job_ended = Signal(object, object)

    def __init__(self, link: WorkerConnection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        link.gone.connect(self._note_end)
        self._agenda = Agenda()
        self._ids = 0
        self._overtaken = 0
        self._told_turn: set[int] = set()
        self._closed = False
        self.loads = Loads()

    @property
    def running(self) -> tuple[Job, ...]:
        """What the worker is at, oldest first: one job, or several answers."""
        return self._agenda.running

    @property
    def active(self) -> Job | None:
        """The oldest job that the worker is at."""
        return next(iter(self._agenda.running), None)

    @property
    def seats(self) -> int:
        """Answers that are written at once: what the last load was sent with."""
        return self.loads.seats

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What the next answer loads again when there is no model: the last load that succeeded."""
        return self.loads.last

    @property
    def idle(self) -> bool:
        """No job runs and none waits."""
        return self._agenda.idle

    def next_id(self) -> int:
        """An id for a request."""
        self._ids += 1
        return self._ids

    def start(self, added: Mapping[str, str]) -> None:
        """Start the worker with ``added`` variables, if it does not run."""
        if not self._link.running and not self._closed:
            self._link.start(added)

    def add(self, job: Job) -> int:
        """Queue ``job``. A load replaces one that waits and cancels what runs; whatever is not quiet ends what is.

        Returns:
            The job's id.
        """
        for replaced in self._agenda.add(job):
            self._later(replaced, replaced.cancelled())
        quiet = any(other.quiet for other in self.running)
        if isinstance(job.request, Load) or (quiet and not job.quiet):
            self._cancel_running()
        self.soon()
        return job.id

    def reload(self) -> int | None:
        """Load the last model again, if nothing else is to be done; the id of that load."""
        job = self._reload_job() if self._agenda.idle else None
        return None if job is None else self.add(job)

    def cancel(self, request_id: int) -> None:
        """End a request, also one that waits; a reload that nobody waits for any more ends with it."""
        waiting = self._agenda.remove(request_id)
        if waiting is not None:
            self._later(waiting, waiting.cancelled())
        unwanted = waiting is not None and not self._agenda.waiting_answers
        for job in self.running:
            if job.id == request_id or (unwanted and job.reload):
                self._link.cancel(job.id)

    def drop_waiting(self, end: Callable[[Job], Terminal], *, overtaken: bool = False) -> None:
        """What waits ends in ``end(job)``, soon. ``overtaken``: only what waited already when the process ended."""
        for job in self._agenda.clear(self._overtaken if overtaken else None):
            self._later(job, end(job))

    def close(self) -> tuple[Job, ...]:
        """Nothing starts the worker again. The jobs that waited: their ``done`` is still to be called."""
        self._closed = True
        return tuple(self._agenda.clear())

    def soon(self) -> None:
        """Give the worker its next job when the event loop comes round."""
        QTimer.singleShot(0, self, self._pump)

    def take(self, event: FromWorker) -> None:
        """An event of the worker."""
        if isinstance(event, Hello):
            self.soon()
            return
        job = self._agenda.find(event.id)
        if job is None:
            return
        self.heard.emit(job, event)
        if isinstance(event, Delta):
            job.on_delta(event)
        elif isinstance(event, Progress):
            self._progress(job, event)
        else:
            self._finish(job, event)

    def worker_ended(self, death: WorkerDeath | None, failures: list[Failed]) -> None:
        """The process is gone; what ran ends with it, each job by itself."""
        self.soon()
        ends = {failure.id: failure for failure in failures}
        for job in self.running:
            self._finish(job, ends.get(job.id) or job.failed_by(death))

    def _note_end(self) -> None:
        self._overtaken = self._ids

    def _cancel_running(self) -> None:
        for job in self.running:
            self._link.cancel(job.id)

    def _later(self, job: Job, event: Terminal) -> None:
        self._told_turn.discard(job.id)
        QTimer.singleShot(0, self, lambda: job.done(event))

    def _pump(self) -> None:
        """Give the worker what it is free for."""
        while self._is_ready() and (job := self._agenda.take(self.seats)) is not None:
            if not self._begin(job):
                return
        if self._is_ready():
            self._tell_turn()

    def _is_ready(self) -> bool:
        return not (self._link.session.state is WorkerState.STOPPING or self._link.is_gone)

    def _begin(self, job: Job) -> bool:
        """Send ``job``, or end it here; false: nothing more can be sent now."""
        model = self._link.session.model
        if self._closed:
            self._finish(job, job.stopped())
        elif model is None and not isinstance(job.request, Load | Generate):
            self._finish(job, job.cancelled())
        elif model is None and isinstance(job.request, Generate):
            reload = None if job.quiet else self._reload_job()
            if reload is not None:
                self._agenda.put_back(job, before=reload)
                return self._send(reload)
            code, message, next_step = NO_MODEL
            self._finish(job, Failed(id=job.id, code=code, message=message, next_step=next_step))
        else:
            return self._send(job)
        return True

    def _tell_turn(self) -> None:
        """Answers that wait because others are written are told so, once."""
        if not self.running or not all(job.together for job in self.running):
            return
        for job in self._agenda.waiting_answers:
            if job.together and job.id not in self._told_turn:
                self._told_turn.add(job.id)
                job.on_progress(Progress(id=job.id, stage=TURN, done=0, total=0))

    def _send(self, job: Job) -> bool:
        """Give a running job to the worker. False: it waits again, for another process or for the devices."""
        request = job.request
        if isinstance(request, Load):
            step = self.loads.next_step(request, self._link.running, self._link.added)
            if step.request is None:
                self._agenda.postpone(job)
                self._link.stop() if step.environment is None else self.start(step.environment)
                return False
            self.start(step.environment or {})
            self.loads.sent(step)
            request = step.request
        else:
            self.start(self._link.added)
        if self._link.running and job in self.running:
            self._link.submit(request)
            self.job_sent.emit(job)
        return True

    def _reload_job(self) -> Job | None:
        if self.last_load is None:
            return None
        path, options = self.last_load
        return Job(Load(id=self.next_id(), path=str(path), options=options), self._reloaded, reload=True)

    def _reloaded(self, event: Terminal) -> None:
        if isinstance(event, Failed) and event.code != "cancelled":
            for job in self._agenda.clear_answers():
                self._later(job, msgspec.structs.replace(event, id=job.id))

    def _progress(self, running: Job, event: Progress) -> None:
        running.on_progress(event)
        if event.stage == "load" and event.total > 0:
            for job in self._agenda.waiting_answers:
                job.on_progress(msgspec.structs.replace(event, id=job.id))

    def _finish(self, job: Job, event: Terminal) -> None:
        """A running job ended."""
        if not self._agenda.ended(job):
            return
        self._told_turn.discard(job.id)
        if isinstance(job.request, Load):
            self.loads.ended(job.request, event, reload=job.reload)
        self.job_ended.emit(job, event)
        self.soon()
        job.done(event)
