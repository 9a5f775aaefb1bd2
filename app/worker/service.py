"""Owner of the worker process, of the loaded model and of the answers that run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import SerialRunner
from app.notices import Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.aftermath import Aftermath
from app.worker.agenda import Answered, Job, finished_or_failed, loaded_or_failed, tested_or_failed
from app.worker.caches import ConversationCaches
from app.worker.connection import WorkerConnection
from app.worker.facts import Facts
from app.worker.pump import Pump
from app.worker.safe_mode import NOTICE, SafeMode
from app.worker.standstill import StandstillGuard
from engine.client.session import WorkerState
from engine.protocol.caching import Overflow
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
    SaveCaches,
    SelfTest,
    SelfTested,
)
from engine.protocol.types import ChatMessage, LoadOptions, ModelInfo, Sampling, Thinking

__all__ = ["NOTICE", "Answered", "WorkerService"]

KEEP_S = 10.0
"""Seconds that caches of conversations may take on their way to the disk: some gigabytes on a slow drive."""


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
        settings: Where safer settings are kept, and what the backends get; None: none are offered.
        layers: Layers of an installed model, 0 when unknown, for safer settings.

    Attributes:
        caches: What is kept of conversations.
    """

    state_changed = Signal(object)
    hello_received = Signal(object)
    load_progress = Signal(float)
    model_changed = Signal(object)
    speed_changed = Signal(object)
    died = Signal(object)
    answered = Signal(object)
    look_begun = Signal(int)

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
        self._link = WorkerConnection(paths, runner, environ, self, settings)
        self._link.heard.connect(self._take)
        self._pump = Pump(self._link, self)
        self.caches = ConversationCaches(paths, settings, runner, self._link.forget, self)
        self._pump.loads.cache = self.caches.policy
        self._facts = self._follow(Facts(self._link, self._pump, self))
        self._safe_mode: SafeMode | None = None
        if settings is not None and notices is not None:
            self._safe_mode = self._pump.loads.planner = SafeMode(self, settings, notices, layers, self)
        self._aftermath = Aftermath(self._link, self._pump, notices, self._safe_mode, self)
        self._aftermath.died.connect(self.died)
        self._guard = StandstillGuard(self._link, self._pump, settings, notices, self._safe_mode, runner, self)

    def _follow(self, facts: Facts) -> Facts:
        facts.state_changed.connect(self.state_changed)
        facts.model_changed.connect(self.model_changed)
        facts.speed_changed.connect(self.speed_changed)
        facts.load_progress.connect(self.load_progress)
        facts.answered.connect(self.answered)
        facts.look_begun.connect(self.look_begun)
        return facts

    @property
    def safe_mode(self) -> SafeMode | None:
        """Safer settings after failures of a GPU."""
        return self._safe_mode

    @property
    def state(self) -> WorkerState:
        """What the worker does now. A quiet look at the model does not count."""
        return self._facts.state

    @property
    def idle(self) -> bool:
        """Nothing was asked for that has not ended yet."""
        return self._pump.idle

    @property
    def hello(self) -> Hello | None:
        """What the last started worker said: backends and devices."""
        return self._facts.hello

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""
        return self._link.session.model

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What the next message loads again when the worker is gone: the last load that succeeded."""
        return self._pump.last_load

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
        self._pump.start({})

    def stop(self) -> None:
        """End the worker: close its input, after 1 s SIGTERM, after another SIGKILL. Returns at once.

        Requests that run or wait end in `Failed` with code ``stopped``.
        """
        self._pump.drop_waiting(Job.stopped)
        self._link.stop()

    def unload(self) -> None:
        """Give the memory of the model back by ending the worker, the sure way."""
        self.stop()

    def shutdown(self) -> None:
        """End the worker before this returns, in less than 3 s; nothing starts it again. Only for quitting."""
        waiting = self._pump.close()
        self._link.shutdown()
        for job in waiting:
            job.done(job.stopped())

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        """Load a model in place of the present one; an answer or a load that runs is cancelled first.

        Returns:
            The id for `cancel`.
        """
        request = Load(id=self._pump.next_id(), path=str(path), options=options)
        return self._pump.add(Job(request, loaded_or_failed(done)))

    def generate(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        max_tokens: int | None,
        stop: Sequence[str],
        on_delta: Callable[[Delta], None],
        on_progress: Callable[[Progress], None],
        done: Callable[[Finished | Failed], None],
        *,
        thinking: Thinking = Thinking(),  # noqa: B008 - frozen
        prefill: str = "",
        prefill_thinking: str = "",
        conversation: str = "",
        overflow: Overflow = Overflow.STOP,
    ) -> int:
        """Answer a conversation, beside others where the model was loaded for several; loads the last model first
        where there is none.

        ``on_progress`` hears of that load too (stage ``load``), and of the others it waits for (``turn``, ``room``).
        Arguments as in `Generate`.

        Returns:
            The id for `cancel`.
        """
        request = Generate(
            id=self._pump.next_id(),
            messages=tuple(messages),
            sampling=sampling,
            max_tokens=max_tokens,
            stop=tuple(stop),
            thinking=thinking,
            prefill=prefill,
            prefill_thinking=prefill_thinking,
            conversation=conversation,
            overflow=overflow,
        )
        return self._pump.add(Job(request, finished_or_failed(done), on_delta, on_progress))

    def look(
        self,
        request: Generate,
        done: Callable[[Finished | Failed], None],
        on_delta: Callable[[Delta], None] = lambda _delta: None,
    ) -> int:
        """Let the loaded model write what nobody sees, when nothing else is to be done. The request's id is replaced.

        It gives way to everything else: then it ends as cancelled, or in `Failed` with code ``cancelled``. Never loads
        a model. How it ends is told to ``done`` only; the end of a worker during it is no notice.

        Returns:
            The id for `cancel`.
        """
        own = msgspec.structs.replace(request, id=self._pump.next_id())
        return self._pump.add(Job(own, finished_or_failed(done), on_delta, quiet=True))

    def keep_caches(self, done: Callable[[], None], seconds: float = KEEP_S) -> None:
        """Write what is kept of conversations to the disk, as far as the budget goes: the model is about to be given
        up. Gives way to everything else, and then it is not complete.

        Args:
            done: Called once, after this returned, however it ended.
            seconds: The most it may take.
        """
        if self.model is None or not self.caches.policy().disk:
            QTimer.singleShot(0, self, done)
            return
        request = SaveCaches(id=self._pump.next_id(), seconds=seconds)
        self._pump.add(Job(request, lambda _event: done(), quiet=True))

    def doubt(self, seconds: float) -> None:
        """The device may be lost: what runs now is told and ended sooner when it stands still."""
        self._guard.hurry(seconds)

    def self_test(self, done: Callable[[SelfTested | Failed], None]) -> int:
        """Read off what the loaded model computes, before anything else that waits. Never loads a model.

        The context is empty afterwards. An answer that comes meanwhile waits; a load ends it.

        Returns:
            The id for `cancel`.
        """
        return self._pump.add(Job(SelfTest(id=self._pump.next_id()), tested_or_failed(done)))

    def cancel(self, request_id: int) -> None:
        """End a request. A worker that does not answer within 2 s is killed; the next message starts it again."""
        self._pump.cancel(request_id)

    def _take(self, event: FromWorker) -> None:
        if isinstance(event, Hello):
            self.hello_received.emit(event)
        self._pump.take(event)
