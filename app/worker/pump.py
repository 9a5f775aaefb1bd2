"""Gives the worker one job after the other, and each job its events and its one end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.worker.agenda import Agenda, Job
from app.worker.connection import WorkerConnection
from app.worker.safe_mode import SafeLoad
from engine.client.session import WorkerDeath, WorkerState
from engine.protocol.caching import CachePolicy
from engine.protocol.frames import (
    Delta,
    Failed,
    FromWorker,
    Generate,
    Hello,
    Load,
    Loaded,
    Progress,
    SelfTest,
    Terminal,
)
from engine.protocol.types import LoadOptions

NO_MODEL = ("no-model", "No model is loaded.", "Choose a model first.")


class LoadPlanner(Protocol):
    """Says how a load is sent."""

    def needs_devices(self, path: Path) -> bool:
        """The worker has to tell its devices before `plan` can say anything of ``path``."""

    def plan(self, path: Path, options: LoadOptions) -> SafeLoad:
        """What to send for ``options``."""

    def sent(self, load: SafeLoad) -> None:
        """The worker was given ``load``."""


class Pump(QObject):
    """One job runs at a time; a load goes first and ends what runs.

    Attributes:
        job_sent: The worker was given a `Job`.
        heard: An event of the job that runs; the job itself hears it afterwards.
        job_ended: `Job` and its terminal event, before the job's own ``done`` is called.
        planner: Makes loads safer; None: they are sent as asked.
        cache: What a load is told to keep of conversations.
        last_load: What the next answer loads again when there is no model: the last load that succeeded.
    """

    job_sent = Signal(object)
    heard = Signal(object)
    job_ended = Signal(object, object)

    def __init__(self, link: WorkerConnection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        link.gone.connect(self._note_end)
        self._agenda = Agenda()
        self._ids = 0
        self._overtaken = 0
        self._closed = False
        self.planner: LoadPlanner | None = None
        self.cache: Callable[[], CachePolicy] = CachePolicy
        self.last_load: tuple[Path, LoadOptions] | None = None

    @property
    def active(self) -> Job | None:
        """The job that the worker is at."""
        return self._agenda.active

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
        quiet = self._agenda.active is not None and self._agenda.active.quiet
        if isinstance(job.request, Load) or (quiet and not job.quiet):
            self._cancel_active()
        self.soon()
        return job.id

    def reload(self) -> int | None:
        """Load the last model again, if nothing else is to be done; the id of that load."""
        job = self._reload_job() if self._agenda.idle else None
        return None if job is None else self.add(job)

    def cancel(self, request_id: int) -> None:
        """End a request, also one that waits; a reload that nobody waits for any more ends with it."""
        active = self._agenda.active
        waiting = self._agenda.remove(request_id)
        if waiting is not None:
            self._later(waiting, waiting.cancelled())
        if active is None:
            return
        unwanted_reload = active.reload and waiting is not None and not self._agenda.waiting_answers
        if active.id == request_id or unwanted_reload:
            self._cancel_active()

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
        active = self._agenda.active
        if isinstance(event, Hello):
            self.soon()
        elif active is not None and event.id == active.id:
            self.heard.emit(event)
            if isinstance(event, Delta):
                active.on_delta(event)
            elif isinstance(event, Progress):
                self._progress(active, event)
            else:
                self._finish(active, event)

    def worker_ended(self, death: WorkerDeath | None, failures: list[Failed]) -> None:
        """The process is gone; the active job ends with it."""
        self.soon()
        active = self._agenda.active
        if active is not None:
            self._finish(active, next((f for f in failures if f.id == active.id), active.failed_by(death)))

    def _note_end(self) -> None:
        self._overtaken = self._ids

    def _cancel_active(self) -> None:
        if self._agenda.active is not None:
            self._link.cancel(self._agenda.active.id)

    def _later(self, job: Job, event: Terminal) -> None:
        QTimer.singleShot(0, self, lambda: job.done(event))

    def _pump(self) -> None:
        """Give the worker its next job, if it is free and there is one."""
        session = self._link.session
        if session.state is WorkerState.STOPPING or self._link.is_gone:
            return
        job = self._agenda.take()
        if job is None:
            return
        if self._closed:
            self._finish(job, job.stopped())
            return
        if isinstance(job.request, SelfTest) and session.model is None:
            self._finish(job, job.cancelled())
            return
        if isinstance(job.request, Generate) and session.model is None:
            reload = None if job.quiet else self._reload_job()
            if reload is None:
                code, message, next_step = NO_MODEL
                self._finish(job, Failed(id=job.id, code=code, message=message, next_step=next_step))
                return
            self._agenda.put_back(job, before=reload)
            job = reload
        self._send(job)

    def _send(self, job: Job) -> None:
        """Give the active job to the worker; a load in its safer form, where it has one, or later if that needs
        another process or the devices."""
        request, planner = job.request, self.planner
        if isinstance(request, Load):
            request = msgspec.structs.replace(request, cache=self.cache())
        if not isinstance(request, Load) or planner is None:
            self.start(self._link.added)
        elif planner.needs_devices(Path(request.path)):
            self._agenda.postpone()
            self.start({})
            return
        else:
            load = planner.plan(Path(request.path), request.options)
            if self._link.running and self._link.added != load.environment:
                self._agenda.postpone()
                self._link.stop()
                return
            self.start(load.environment)
            planner.sent(load)
            request = msgspec.structs.replace(request, options=load.options)
        if self._link.running and self._agenda.active is job:
            self._link.submit(request)
            self.job_sent.emit(job)

    def _reload_job(self) -> Job | None:
        if self.last_load is None:
            return None
        path, options = self.last_load
        return Job(Load(id=self.next_id(), path=str(path), options=options), self._reloaded, reload=True)

    def _reloaded(self, event: Terminal) -> None:
        if isinstance(event, Failed) and event.code != "cancelled":
            for job in self._agenda.clear_answers():
                self._later(job, msgspec.structs.replace(event, id=job.id))

    def _progress(self, active: Job, event: Progress) -> None:
        active.on_progress(event)
        if event.stage == "load" and event.total > 0:
            for job in self._agenda.waiting_answers:
                job.on_progress(msgspec.structs.replace(event, id=job.id))

    def _finish(self, job: Job, event: Terminal) -> None:
        """The active job ended."""
        self._agenda.active = None
        if isinstance(job.request, Load):
            self._keep_load(job.request, event, job.reload)
        self.job_ended.emit(job, event)
        self.soon()
        job.done(event)

    def _keep_load(self, request: Load, event: Terminal, reload: bool) -> None:
        """What the next message loads. Not an earlier model after a failure: another one must not answer unasked."""
        if isinstance(event, Loaded):
            self.last_load = (Path(request.path), request.options)
        elif isinstance(event, Failed) and event.code not in ("cancelled", "stopped") and not reload:
            self.last_load = None
