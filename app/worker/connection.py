"""One worker process after the other: the process, its conversation, its log and its time limits together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from signal import SIGKILL

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import SerialRunner
from app.paths import Paths
from app.settings.records import BackendSettings
from app.settings.store import SettingsStore
from app.settings.variables import backend_environment
from app.worker.kill_witness import KillWitness
from app.worker.log import WorkerLog
from app.worker.process import WorkerProcess
from engine.client.command import WorkerCommand, worker_command
from engine.client.memory_trouble import MemoryTrouble
from engine.client.session import Session, Verdict, WorkerState
from engine.protocol.frames import Request

LOOK_MS = 250


class WorkerConnection(QObject):
    """Feeds the session of the present process from Qt's event loop.

    Args:
        settings: Which backends the user switched off, and their variables; None: nothing is changed.

    Attributes:
        added: Variables that the present or last process got more than the others.
        is_gone: Between `gone` and `ended`: nothing that is sent now arrives.
        changed: The session's state or model may be another.
        heard: An event of the worker, a `Hello` included. `changed` was emitted before.
        gone: The process has ended; `ended` follows, when it is known who ended it.
        ended: The process is gone: `WorkerDeath` or None, why it was killed or None, and the `Failed` events.
        stuck: Id of a process that SIGKILL does not end; `ended` follows, as if it had, so that another can start.
        let_go: It ended after all.
    """

    changed = Signal()
    heard = Signal(object)
    gone = Signal()
    ended = Signal(object, object, object)
    stuck = Signal(int)
    let_go = Signal(int)

    def __init__(
        self,
        paths: Paths,
        runner: SerialRunner | None,
        environ: Mapping[str, str] | None,
        parent: QObject | None = None,
        settings: SettingsStore | None = None,
    ) -> None:
        super().__init__(parent)
        self._paths, self._environ, self._settings = paths, environ, settings
        self._log = WorkerLog(paths.logs / "worker.log", runner, self)
        self._witness = KillWitness(runner, parent=self)
        self._process: WorkerProcess | None = None
        self._stuck: list[WorkerProcess] = []
        self.is_gone = False
        self.added: Mapping[str, str] = {}
        self.session = Session(time.monotonic)
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self._look_at_clock)

    @property
    def running(self) -> bool:
        """There is a process, also one that is being ended."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return None if self._process is None else self._process.pid

    @property
    def log_tail(self) -> str:
        """The last lines of the worker's log."""
        return self._log.text()

    def start(self, added: Mapping[str, str]) -> None:
        """Start a process with ``added`` variables. When that fails `ended` follows, perhaps before this returns."""
        self.session = Session(time.monotonic)
        self.added = added
        self._log.begin()
        process = WorkerProcess(self._command(added), self)
        process.frames.connect(self._receive)
        process.log.connect(self._log.feed)
        process.channel_closed.connect(self._channel_closed)
        process.ended.connect(self._ended)
        process.stuck.connect(self._give_up)
        self._process = process
        self._witness.begin()
        self.session.started()
        process.start()
        self._changed()

    def _command(self, added: Mapping[str, str]) -> WorkerCommand:
        """What to start: the user's settings of the backends over the own environment, ``added`` over both."""
        command = worker_command(self._paths.backends, self._environ)
        environment = command.environment
        if self._settings is not None:
            environment = backend_environment(self._settings.get(BackendSettings), environment)
        return WorkerCommand(command.arguments, {**environment, **added})

    def submit(self, request: Request) -> None:
        """Send a request."""
        self._write(self.session.submit(request))

    def cancel(self, target: int) -> None:
        """Ask the worker to end a request. If it does not answer in time it is killed."""
        self._write(self.session.cancel(target))

    def forget(self, conversations: Sequence[str]) -> None:
        """Have the process keep nothing of these conversations."""
        self._write(self.session.forget(tuple(conversations)))

    def condemn(self, verdict: Verdict) -> None:
        """Kill the process, soon."""
        self.session.condemn(verdict)
        self._changed()

    def stop(self) -> None:
        """End the process step by step. Returns at once."""
        if self._process is not None and self.session.state is not WorkerState.STOPPING:
            self.session.stopping()
            self._process.stop()
            self._changed()

    def shutdown(self) -> None:
        """End the process before this returns, in less than 3 s. Only for the end of the program."""
        if self._process is not None:
            self.session.stopping()
            self._process.shutdown()
        self._witness.hurry()
        self._log.flush()

    def _write(self, data: bytes) -> None:
        if self._process is not None:
            self._process.write(data)
        self._changed()

    def _receive(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            events = self.session.receive(line)
            self._changed()
            for event in events:
                self.heard.emit(event)

    def _look_at_clock(self) -> None:
        if self._process is not None and self.session.overdue(time.monotonic()):
            self._process.kill()

    def _channel_closed(self) -> None:
        self.session.channel_closed()
        self._changed()

    def _ended(self, exit_code: int | None, number: int | None, error: str) -> None:
        """The process is gone. Who killed it from outside is asked first; until then it counts as running."""

        def conclude(trouble: MemoryTrouble | None) -> None:
            self._conclude(exit_code, number, error, trouble)

        self.is_gone = True
        self.gone.emit()
        session = self.session
        wanted = session.verdict is not None or session.state is WorkerState.STOPPING
        if not wanted and self._witness.knows_of(exit_code, number):
            self._witness.ask(conclude)
        else:
            conclude(None)

    def _conclude(self, exit_code: int | None, number: int | None, error: str, trouble: MemoryTrouble | None) -> None:
        process, self._process = self._process, None
        self.is_gone = False
        if process is not None and process not in self._stuck:
            process.deleteLater()
        death, failures = self.session.ended(exit_code, number, self._log.text() or error, trouble)
        self._log.flush()
        self._changed()
        self.ended.emit(death, self.session.verdict, failures)

    def _give_up(self) -> None:
        """Leave the process behind that cannot be ended."""
        process = self._process
        if process is None:
            return
        pid = process.pid or 0
        for signal, slot in (
            (process.frames, self._receive),
            (process.log, self._log.feed),
            (process.channel_closed, self._channel_closed),
            (process.ended, self._ended),
            (process.stuck, self._give_up),
        ):
            signal.disconnect(slot)
        process.ended.connect(lambda *_how: self._bury(process, pid))
        self._stuck.append(process)
        self.stuck.emit(pid)
        self.gone.emit()
        self._conclude(None, SIGKILL, "", None)

    def _bury(self, process: WorkerProcess, pid: int) -> None:
        self._stuck.remove(process)
        process.deleteLater()
        self.let_go.emit(pid)

    def _changed(self) -> None:
        """Tell it, and look at the clock while a time limit runs."""
        wanted = self.session.watching and self._process is not None
        if wanted and not self._look.isActive():
            self._look.start()
        elif not wanted:
            self._look.stop()
        self.changed.emit()
