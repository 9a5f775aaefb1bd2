"""Owner of the worker process, of the loaded model and of the one answer that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import SerialRunner
from app.notices import Action, Notice, Notices, Severity
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.agenda import Agenda, Job, finished_or_failed, loaded_or_failed
from app.worker.connection import WorkerConnection
from app.worker.safe_mode import NOTICE, SafeMode
from engine.client.ladder import HANG
from engine.client.session import Verdict, WorkerDeath, WorkerState
from engine.protocol.frames import (
    Delta,
    Failed,
    Finished,
    FromWorker,
    Generate,
    Hello,
    Load,
    Loaded,
    Progress,
    Terminal,
)
from engine.protocol.types import ChatMessage, LoadOptions, ModelInfo, Sampling

__all__ = ["NOTICE", "WorkerService"]

NO_MODEL = ("no-model", "No model is loaded.", "Choose a model first.")


class WorkerService(QObject):
    """Starts the worker when something needs it and tells what it does.

    Every `load` and `generate` gets its ``done`` called exactly once, after the call returned, whatever happens to
    the worker. A worker that died is started again by the next `load` or `generate`; `generate` then loads the last
    model first, also after `unload`.

    Args:
        paths: For the worker's log and the folder of added plugins.
        runner: Writes the log file; None: no file.
        notices: Where the end of a worker is told.
        environ: Environment the worker's one is made from; default: this process's own.
        settings: Where safer settings are kept; None: none are offered.
        layers: Layers of an installed model, 0 when unknown, for safer settings.
    """

    state_changed = Signal(object)
    hello_received = Signal(object)
    load_progress = Signal(float)
    model_changed = Signal(object)
    speed_changed = Signal(object)
    died = Signal(object)

    def __init__(
        self,
        paths: Paths,
        runner: SerialRunner | None = None,
        notices: Notices | None = None,
        parent: QObject | None = None,
        environ: Mapping[str, str] | None = None,
        settings: SettingsStore | None = None,
        layers: Callable[[Path], int] = lambda _path: 0,
    ) -> None:
        super().__init__(parent)
        self._notices = notices
        self._link = WorkerConnection(paths, runner, environ, self)
        self._link.changed.connect(self._tell)
        self._link.heard.connect(self._take)
        self._link.ended.connect(self._ended)
        self._agenda = Agenda()
        self._ids = 0
        self._closed = False
        self._hello: Hello | None = None
        self._last_load: tuple[Path, LoadOptions] | None = None
        self._told_state = WorkerState.STOPPED
        self._told_model: ModelInfo | None = None
        self._told_speed: float | None = None
        self._safe_mode: SafeMode | None = None
        if settings is not None and notices is not None:
            self._safe_mode = SafeMode(self, settings, notices, layers, self)

    @property
    def safe_mode(self) -> SafeMode | None:
        """Safer settings after failures of a GPU."""
        return self._safe_mode

    @property
    def state(self) -> WorkerState:
        """What the worker does now."""
        return self._link.session.state

    @property
    def hello(self) -> Hello | None:
        """What the last started worker said: backends and devices."""
        return self._hello

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""
        return self._link.session.model

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What the next message loads again when the worker is gone: the last load that succeeded."""
        return self._last_load

    @property
    def pid(self) -> int | None:
        """Process id of the worker while it runs."""
        return self._link.pid

    @property
    def log_tail(self) -> str:
        """The last lines of the worker's log."""
        return self._link.log_tail

    def start(self) -> None:
        """Start the worker if it does not run, so that its devices become known."""
        self._start({})

    def _start(self, added: Mapping[str, str]) -> None:
        if not self._link.running and not self._closed:
            self._link.start(added)

    def stop(self) -> None:
        """End the worker: close its input, after 1 s SIGTERM, after another SIGKILL. Returns at once.

        Requests that run or wait end in `Failed` with code ``stopped``.
        """
        for job in self._agenda.clear():
            self._later(job, job.stopped())
        self._link.stop()

    def unload(self) -> None:
        """Give the memory of the model back by ending the worker, the sure way."""
        self.stop()

    def shutdown(self) -> None:
        """End the worker before this returns, in less than 3 s; nothing starts it again. Only for quitting."""
        self._closed = True
        waiting = self._agenda.clear()
        self._link.shutdown()
        for job in waiting:
            job.done(job.stopped())

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        """Load a model in place of the present one; an answer or a load that runs is cancelled first.

        Returns:
            The id for `cancel`.
        """
        job = Job(Load(id=self._next_id(), path=str(path), options=options), loaded_or_failed(done))
        for replaced in self._agenda.add(job):
            self._later(replaced, replaced.cancelled())
        self._cancel_active()
        self._soon()
        return job.id

    def generate(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        max_tokens: int | None,
        stop: Sequence[str],
        on_delta: Callable[[Delta], None],
        on_progress: Callable[[Progress], None],
        done: Callable[[Finished | Failed], None],
    ) -> int:
        """Answer a conversation; waits for what runs, and loads the last model first where there is none.

        ``on_progress`` hears of that load too (stage ``load``).

        Returns:
            The id for `cancel`.
        """
        request = Generate(
            id=self._next_id(), messages=tuple(messages), sampling=sampling, max_tokens=max_tokens, stop=tuple(stop)
        )
        self._agenda.add(Job(request, finished_or_failed(done), on_delta, on_progress))
        self._soon()
        return request.id

    def cancel(self, request_id: int) -> None:
        """End a request. A worker that does not answer within 2 s is killed; the next message starts it again."""
        active = self._agenda.active
        waiting = self._agenda.remove(request_id)
        if waiting is not None:
            self._later(waiting, waiting.cancelled())
        if active is None:
            return
        unwanted_reload = active.reload and waiting is not None and not self._agenda.waiting_answers
        if active.id == request_id or unwanted_reload:
            self._cancel_active()

    def _cancel_active(self) -> None:
        if self._agenda.active is not None:
            self._link.cancel(self._agenda.active.id)

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids

    def _soon(self) -> None:
        QTimer.singleShot(0, self, self._pump)

    def _later(self, job: Job, event: Terminal) -> None:
        QTimer.singleShot(0, self, lambda: job.done(event))

    def _pump(self) -> None:
        """Give the worker its next job, if it is free and there is one."""
        if self.state is WorkerState.STOPPING:
            return
        job = self._agenda.take()
        if job is None:
            return
        if self._closed:
            self._finish(job, job.stopped())
            return
        if isinstance(job.request, Generate) and self.model is None:
            reload = self._reload_job()
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
        request, safe_mode = job.request, self._safe_mode
        if not isinstance(request, Load) or safe_mode is None:
            self._start(self._link.added)
        elif safe_mode.needs_devices(Path(request.path)):
            self._agenda.postpone()
            self._start({})
            return
        else:
            load = safe_mode.plan(Path(request.path), request.options)
            if self._link.running and self._link.added != load.environment:
                self._agenda.postpone()
                self._link.stop()
                return
            self._start(load.environment)
            safe_mode.sent(load)
            request = msgspec.structs.replace(request, options=load.options)
        if self._link.running and self._agenda.active is job:
            self._link.submit(request)

    def _reload_job(self) -> Job | None:
        if self._last_load is None:
            return None
        path, options = self._last_load
        return Job(Load(id=self._next_id(), path=str(path), options=options), self._reloaded, reload=True)

    def _reloaded(self, event: Terminal) -> None:
        if isinstance(event, Failed) and event.code != "cancelled":
            for job in self._agenda.clear_answers():
                self._later(job, msgspec.structs.replace(event, id=job.id))

    def _finish(self, job: Job, event: Terminal) -> None:
        """The active job ended."""
        self._agenda.active = None
        if isinstance(job.request, Load):
            self._keep_load(job.request, event, job.reload)
            self._tell_safer(job, event)
        self._soon()
        job.done(event)

    def _keep_load(self, request: Load, event: Terminal, reload: bool) -> None:
        """What the next message loads. Not an earlier model after a failure: another one must not answer unasked."""
        if isinstance(event, Loaded):
            self._last_load = (Path(request.path), request.options)
            if self._notices is not None:
                self._notices.withdraw(NOTICE)
        elif isinstance(event, Failed) and event.code not in ("cancelled", "stopped") and not reload:
            self._last_load = None

    def _take(self, event: FromWorker) -> None:
        active = self._agenda.active
        if isinstance(event, Hello):
            self.hello_received.emit(event)
            self._soon()
        elif active is None or event.id != active.id:
            return
        elif isinstance(event, Delta):
            if event.tps > 0:
                self._tell_speed(event.tps)
            active.on_delta(event)
        elif isinstance(event, Progress):
            self._progress(active, event)
        else:
            if isinstance(event, Finished) and event.stats.decode_tps > 0:
                self._tell_speed(event.stats.decode_tps)
            self._finish(active, event)

    def _progress(self, active: Job, event: Progress) -> None:
        active.on_progress(event)
        if event.stage == "load" and event.total > 0:
            self.load_progress.emit(min(max(event.done / event.total, 0.0), 1.0))
            for job in self._agenda.waiting_answers:
                job.on_progress(msgspec.structs.replace(event, id=job.id))

    def _ended(self, death: WorkerDeath | None, verdict: Verdict | None, failures: list[Failed]) -> None:
        """The worker is gone. A crash ends what waits too; a kill after a cancel was wanted, so the rest goes on."""
        overtaken = self._agenda.clear() if death is not None and verdict is not Verdict.NO_ANSWER else []
        active = self._agenda.active
        if death is not None:
            self._tell_death(death, verdict, active)
        for job in overtaken:
            self._later(job, job.failed_by(death))
        self._soon()
        if active is not None:
            self._finish(active, next((f for f in failures if f.id == active.id), active.failed_by(death)))

    def _tell_death(self, death: WorkerDeath, verdict: Verdict | None, active: Job | None) -> None:
        self.died.emit(death)
        safe_mode = self._safe_mode
        if self._notices is None or (safe_mode is not None and safe_mode.climbing):
            return
        severity = Severity.WARN if verdict is Verdict.NO_ANSWER else Severity.ERROR
        text = f"{death.sentence} {death.next_step}"
        actions = self._offer(HANG if verdict is Verdict.NO_ANSWER else death.code, death.log_tail, active)
        self._notices.post(Notice(NOTICE, severity, text, death.log_tail, actions))

    def _tell_safer(self, job: Job, event: Terminal) -> None:
        """A load failed and the worker lives: a notice only where safer settings may help, the asker tells the rest."""
        if not isinstance(event, Failed) or self._notices is None or not self._link.running:
            return
        if actions := self._offer(event.code, event.detail, job):
            text = f"{event.message} {event.next_step}".strip()
            self._notices.post(Notice(NOTICE, Severity.ERROR, text, event.detail, actions))

    def _offer(self, code: str, detail: str, active: Job | None) -> tuple[Action, ...]:
        """What can be done about the end of a worker that was at ``active``."""
        if self._safe_mode is None or active is None:
            return ()
        if isinstance(active.request, Load):
            return self._safe_mode.offer(Path(active.request.path), active.request.options, code, detail)
        return () if self._last_load is None else self._safe_mode.offer(*self._last_load, code, detail)

    def _tell(self) -> None:
        """Emit what changed."""
        self._hello = self._link.session.hello or self._hello
        if self._told_model != self.model:
            self._told_model = self.model
            self.model_changed.emit(self._told_model)
            self._tell_speed(None)
        if self._told_state is not self.state:
            self._told_state = self.state
            self.state_changed.emit(self._told_state)

    def _tell_speed(self, speed: float | None) -> None:
        if speed != self._told_speed:
            self._told_speed = speed
            self.speed_changed.emit(speed)
