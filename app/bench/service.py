"""Owner of the benchmark that runs, and of the last report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.bench.archive import Archive
from app.bench.engine_seam import BenchedEngine, Options
from app.jobs import Err, Result
from app.worker.link import Link
from engine.client.states import WorkerState
from engine.errors import VrambleError
from engine.protocol.frames import Failed, FromWorker, Hello, Progress, Request, Terminal
from engine.protocol.types import LoadOptions

if TYPE_CHECKING:
    from app.bench.wish import Wish
    from engine.bench.course import Course
    from engine.bench.records import Order, Report, VariantResult
    from engine.client.death import WorkerDeath
    from engine.memory.fit import FitDevice, FitModel

GONE = (WorkerState.STOPPED, WorkerState.CRASHED)
AT_WORK = (WorkerState.LOADING, WorkerState.GENERATING)


class Phase(StrEnum):
    """What the service is doing."""

    IDLE = "idle"
    PREPARING = "preparing"
    """The file is looked at, and the chat's model gives its memory back."""
    RUNNING = "running"
    STOPPING = "stopping"


class BenchService(QObject):
    """Measures in a worker of its own, which ends with the benchmark.

    The chat's model is unloaded before; the next message loads it again. Whatever the chat loads or answers meanwhile
    ends the benchmark: nothing that is measured beside it would be true.

    Args:
        worker: The chat's.
        link: For processes of this object only.
        archive: Keeps reports; its executor reads headers and the kernel's topology too.
        options: How models are loaded in the chat; keeps winners.
        machine: The devices with the room they have.
        tree: Folder that holds ``sys``.

    Attributes:
        changed: Anything here is another; while it runs a few times a second.
        failed: A `VrambleError`: there is no report.
        finished: The `Report`, also of one that was stopped after its first figures.
        stopped: It was stopped before the first figure: there is no report.
        report: The last one.
        unloaded: Name of the chat's model that gave way to the last benchmark, or "".
        interrupted: The last one was stopped because the chat needed its model.
    """

    changed = Signal()
    failed = Signal(object)
    finished = Signal(object)
    stopped = Signal()

    def __init__(
        self,
        worker: BenchedEngine,
        link: Link,
        archive: Archive,
        options: Options,
        machine: Callable[[], Sequence[FitDevice]],
        tree: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker, self._link, self._options, self._machine = worker, link, options, machine
        self.archive, self._tree = archive, tree
        self._phase = Phase.IDLE
        self._course: Course | None = None
        self._model: FitModel | None = None
        self._hello: Hello | None = None
        self._request: Request | None = None
        self._ids = 0
        self.report: Report | None = None
        self.unloaded = ""
        self.interrupted = False
        link.heard.connect(self._take)
        link.ended.connect(self._process_ended)
        worker.state_changed.connect(self._chat_changed)

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        return self._phase

    @property
    def running(self) -> bool:
        """A benchmark was begun and is not over."""
        return self._phase is not Phase.IDLE

    @property
    def course(self) -> Course | None:
        """How far the benchmark is; None while there is nothing to tell."""
        return self._course

    def start(self, wish: Wish) -> None:
        """Begin; `finished` or `failed` follows."""
        if self.running:
            return
        if self._worker.state in AT_WORK:
            busy = VrambleError("bench-busy", "The chat is using its model.", "Wait for the answer, or stop it.")
            self.failed.emit(busy)
            return
        self.interrupted, self.unloaded = False, ""
        self._set_phase(Phase.PREPARING)
        options, machine = self._options.options_for(wish.path), tuple(self._machine())

        def prepare() -> tuple[Order, FitModel | None]:
            from app.bench.wish import order_for

            return order_for(wish, options, machine)

        self.archive.runner.run(prepare, self._prepared)

    def cancel(self) -> None:
        """Stop; what was measured so far becomes a report."""
        if self._phase not in (Phase.PREPARING, Phase.RUNNING):
            return
        self._set_phase(Phase.STOPPING)
        if self._course is None:
            return
        self._course.cancel()
        if self._request is not None:
            self._link.cancel(self._request.id)
        elif self._link.running:
            self._link.stop()
        else:
            self._write()

    def keep(self, variant: VariantResult) -> None:
        """Load the reported model like ``variant`` from now on, in what the race was about."""
        if self.report is not None:
            path = Path(self.report.model.path)
            self._options.remembered.remember(path, self._kept(self.report, variant))
            self.changed.emit()

    def is_kept(self, variant: VariantResult) -> bool:
        """Whether the reported model is loaded like ``variant`` already."""
        report = self.report
        return report is not None and self._options.options_for(Path(report.model.path)) == self._kept(report, variant)

    def shutdown(self) -> None:
        """End the worker and what is being written. Only for quitting."""
        self._link.shutdown()
        self.archive.shutdown()

    def _kept(self, report: Report, variant: VariantResult) -> LoadOptions:
        from engine.bench.variants import with_winner

        return with_winner(self._options.options_for(Path(report.model.path)), report.race, variant.options)

    def _prepared(self, result: Result[tuple[Order, FitModel | None]]) -> None:
        from engine.bench.course import Course

        if isinstance(result, Err):
            self._fail(result.error)
        elif self._phase is Phase.STOPPING:
            self._end_without_figure()
        else:
            order, self._model = result.value
            self._course = Course(order)
            if self._worker.model is not None:
                self.unloaded = self._worker.model.name
                self._worker.unload()
            self._begin_when_free()

    def _begin_when_free(self) -> None:
        """Start the own worker once the chat's has given its memory back."""
        waits = bool(self.unloaded) and self._worker.state not in GONE
        if self._phase is Phase.PREPARING and self._course is not None and not waits:
            self._set_phase(Phase.RUNNING)
            self._link.start({})

    def _chat_changed(self, state: WorkerState) -> None:
        """The chat needs its memory: the own process ends before the other one has started."""
        wanted = state in AT_WORK or (state is WorkerState.STARTING and not self._worker.idle)
        if not wanted:
            self._begin_when_free()
        elif self._phase in (Phase.PREPARING, Phase.RUNNING):
            self.interrupted = True
            self._request = None
            self.cancel()

    def _take(self, event: FromWorker) -> None:
        course, request = self._course, self._request
        if course is None:
            return
        if isinstance(event, Hello):
            self._hello = event
            self._next()
        elif request is not None and event.id == request.id and isinstance(event, Progress | Terminal):
            course.take(event)
            if isinstance(event, Progress):
                self.changed.emit()
            else:
                self._next()

    def _next(self) -> None:
        """Ask the worker for the next step, or end it."""
        if self._course is None:
            return
        self._ids += 1
        self._request = self._course.next(self._ids)
        if self._request is None:
            self._set_phase(Phase.STOPPING)
            self._link.stop()
        else:
            self._link.submit(self._request)
            self.changed.emit()

    def _process_ended(self, death: WorkerDeath | None, _verdict: object, failures: Sequence[Failed]) -> None:
        """It ended as wanted, or died: then its variant is out, and another process goes on with the others."""
        course, request, self._request = self._course, self._request, None
        if course is None:
            return
        for failure in failures:
            if request is not None and failure.id == request.id:
                course.take(failure)
        if self._phase is not Phase.RUNNING or death is None:
            self._write()
        elif request is not None:
            self._link.start({})
        else:
            self._course = None
            self._fail(VrambleError(death.code, death.sentence, death.next_step, death.log_tail))

    def _write(self) -> None:
        """Make the report of what was measured, and keep it."""
        course, hello, model, tree = self._course, self._hello, self._model, self._tree
        self._course = None
        if course is None or hello is None or not any(variant.tests for variant in course.results()):
            self._end_without_figure(course)
            return

        def make() -> Report:
            from engine.bench.reporting import Surroundings, report_of, this_build
            from engine.memory.tree import Tree

            around = Surroundings(hello=hello, model=model, build=this_build(), tree=Tree(tree))
            return report_of(course, around)

        self.archive.add(make, self._written)

    def _end_without_figure(self, course: Course | None = None) -> None:
        self._set_phase(Phase.IDLE)
        if course is not None and (course.first_error or not course.cancelled):
            self.failed.emit(VrambleError("bench-failed", course.first_error or "Nothing was measured."))
        else:
            self.stopped.emit()

    def _written(self, report: Report) -> None:
        self.report = report
        self._set_phase(Phase.IDLE)
        self.finished.emit(report)

    def _fail(self, error: Exception) -> None:
        self._set_phase(Phase.IDLE)
        if not isinstance(error, VrambleError):
            raise error
        self.failed.emit(error)

    def _set_phase(self, phase: Phase) -> None:
        if phase is not self._phase:
            self._phase = phase
            self.changed.emit()
