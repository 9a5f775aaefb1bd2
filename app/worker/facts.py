"""What the worker does now, told when it changes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.worker.agenda import Answered, Job
from app.worker.connection import WorkerConnection
from app.worker.pump import Pump
from engine.client.session import WorkerState
from engine.protocol.frames import Delta, Finished, Generate, Hello, Progress, Terminal
from engine.protocol.types import ModelInfo


class Facts(QObject):
    """Follows connection and pump. A quiet look at the model is not told.

    Attributes:
        state_changed: `WorkerState`.
        model_changed: `ModelInfo` or None.
        speed_changed: Decode tokens a second of all answers that are written together, or None.
        load_progress: 0 to 1.
        answered: `Answered`.
        look_begun: Id of a quiet look that the worker was given.
    """

    state_changed = Signal(object)
    model_changed = Signal(object)
    speed_changed = Signal(object)
    load_progress = Signal(float)
    answered = Signal(object)
    look_begun = Signal(int)

    def __init__(self, link: WorkerConnection, pump: Pump, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link, self._pump = link, pump
        self.hello: Hello | None = None
        self._said: dict[int, list[str]] = {}
        self._rates: dict[int, float] = {}
        self._state = WorkerState.STOPPED
        self._model: ModelInfo | None = None
        self._speed: float | None = None
        link.changed.connect(self._tell)
        pump.heard.connect(self._heard)
        pump.job_sent.connect(self._sent)
        pump.job_ended.connect(self._ended)

    @property
    def state(self) -> WorkerState:
        """What the worker does now."""
        state, active = self._link.session.state, self._pump.active
        quiet = state is WorkerState.GENERATING and active is not None and active.quiet
        return WorkerState.READY if quiet else state

    def _heard(self, job: Job, event: Delta | Progress | Terminal) -> None:
        """What an event of a running job says of the worker."""
        if job.quiet:
            return
        if isinstance(event, Delta):
            self._said.setdefault(job.id, []).append(event.text)
            if event.tps > 0:
                self._rates[job.id] = event.tps
                self._tell_speed(sum(self._rates.values()))
        elif isinstance(event, Progress) and event.stage == "load" and event.total > 0:
            self.load_progress.emit(min(max(event.done / event.total, 0.0), 1.0))

    def _sent(self, job: Job) -> None:
        if job.quiet:
            self.look_begun.emit(job.id)

    def _ended(self, job: Job, event: Terminal) -> None:
        said = "".join(self._said.pop(job.id, ()))
        self._rates.pop(job.id, None)
        finished = event if isinstance(event, Finished) and not job.quiet else None
        if self._rates and self._model is not None:
            self._tell_speed(sum(self._rates.values()))
        elif finished is not None and finished.stats.decode_tps > 0:
            self._tell_speed(finished.stats.decode_tps)
        if finished is not None and isinstance(job.request, Generate):
            self.answered.emit(Answered(job.request, said, finished))

    def _tell(self) -> None:
        """Emit what changed."""
        self.hello = self._link.session.hello or self.hello
        model = self._link.session.model
        if self._model != model:
            self._model = model
            self.model_changed.emit(model)
            self._tell_speed(None)
        if self._state is not self.state:
            self._state = self.state
            self.state_changed.emit(self._state)

    def _tell_speed(self, speed: float | None) -> None:
        if speed != self._speed:
            self._speed = speed
            self.speed_changed.emit(speed)
