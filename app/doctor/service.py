"""The diagnosis for a window: off the GUI thread, with progress and a way to stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from app.doctor.watched import STEPS, Step, StoppedError
from app.jobs import Err, Executor, Result, SerialRunner
from app.worker.service import WorkerService
from engine.client.session import WorkerDeath, WorkerState
from engine.protocol.frames import Hello

if TYPE_CHECKING:
    from engine.doctor.answer import EngineAnswer
    from engine.doctor.records import Diagnosis

READY = (WorkerState.IDLE, WorkerState.LOADING, WorkerState.READY, WorkerState.GENERATING)
NO_REASON = "The engine gave no reason."


class Examine(Protocol):
    """`app.doctor.examination.examine`."""

    def __call__(
        self, environ: Mapping[str, str], answer: EngineAnswer | None, watch: Callable[[Step], None]
    ) -> Diagnosis:
        """Examine this machine."""


def _examine(environ: Mapping[str, str], answer: EngineAnswer | None, watch: Callable[[Step], None]) -> Diagnosis:
    """The real one; its modules are loaded on the executor, when they are needed."""
    from app.doctor.examination import examine

    return examine(environ, answer, watch)


class DoctorService(QObject):
    """Examines the machine when asked, and keeps the last diagnosis.

    The engine is the one that runs; it is started when none does.

    Args:
        environ: The environment to judge now.

    Attributes:
        changed: `running`, `step` or `diagnosis` is another.
    """

    changed = Signal()
    _stepped = Signal(int, object)

    def __init__(
        self,
        worker: WorkerService,
        executor: Executor,
        environ: Callable[[], Mapping[str, str]],
        parent: QObject | None = None,
        *,
        examine: Examine = _examine,
    ) -> None:
        super().__init__(parent)
        self._worker, self._environ, self._examine = worker, environ, examine
        self._runner = SerialRunner(executor, self)
        self._step: Step | None = None
        self._diagnosis: Diagnosis | None = None
        self._run = 0
        self._stepped.connect(self._take_step, Qt.ConnectionType.QueuedConnection)
        worker.hello_received.connect(self._heard)
        worker.died.connect(self._died)

    @property
    def running(self) -> bool:
        """Whether a diagnosis is being made."""
        return self._step is not None

    @property
    def step(self) -> Step | None:
        """What it is at."""
        return self._step

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was found last; None before the first one."""
        return self._diagnosis

    def start(self) -> None:
        """Make a diagnosis. `changed` tells of it; nothing happens while one is being made."""
        if self.running:
            return
        self._run += 1
        self._set_step(Step.ENGINE)
        if self._worker.state in READY:
            self._heard()
        else:
            self._worker.start()

    def cancel(self) -> None:
        """Stop; the last diagnosis stays."""
        if self.running:
            self._run += 1
            self._set_step(None)

    def shutdown(self) -> None:
        """Stop, and wait for a question that is being answered: a tool may take seconds."""
        self._run += 1
        self._runner.close()

    def _heard(self) -> None:
        hello = self._worker.hello
        if hello is None:
            return
        problem = "" if hello.engine else self._worker.log_tail.rpartition("\n")[2] or NO_REASON
        self._begin(hello, problem)

    def _died(self, death: WorkerDeath) -> None:
        self._begin(None, death.sentence, death.next_step)

    def _begin(self, hello: Hello | None, problem: str, advice: str = "") -> None:
        """The engine has answered."""
        if self._step is not Step.ENGINE:
            return
        number, environ = self._run, dict(self._environ())
        self._set_step(Step.SYSTEM)

        def watch(step: Step) -> None:
            if number != self._run:
                raise StoppedError
            self._stepped.emit(number, step)

        def work() -> Diagnosis | None:
            from engine.doctor.answer import EngineAnswer

            try:
                return self._examine(environ, EngineAnswer(hello, problem, advice), watch)
            except StoppedError:
                return None

        self._runner.run(work, lambda result: self._done(number, result))

    def _take_step(self, number: int, step: Step) -> None:
        """Progress goes on only: some questions of an earlier step come late."""
        if number == self._run and self._step is not None and STEPS.index(step) > STEPS.index(self._step):
            self._set_step(step)

    def _done(self, number: int, result: Result[Diagnosis | None]) -> None:
        if number != self._run:
            return
        if isinstance(result, Err):
            self._set_step(None)
            raise result.error
        self._diagnosis = result.value
        self._set_step(None)

    def _set_step(self, step: Step | None) -> None:
        if step is not self._step or step is None:
            self._step = step
            self.changed.emit()
