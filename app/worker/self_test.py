"""Tests each model once on each device, driver and kind of load: whether what it computes can be trusted.

Right after the load the worker reads off what the model expects (milliseconds to a second, its context is empty).
That shows whether there are numbers, and not one token everywhere. Whether they are the right ones is asked later,
when nobody waits for the engine and there is room: the CPU computes the same in a process of its own, from the mapped
file, at the lowest priority, and gives way to the next message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Ok, Result, SerialRunner
from app.notices import Action, Notice, Notices, Severity
from app.settings.store import SettingsStore
from app.settings.variables import OFF_ENV
from app.worker.comparison import Comparison
from app.worker.connection import WorkerConnection
from app.worker.safe_mode import NOT_WANTED
from app.worker.self_test_words import no_room, on_cpu, report, warning
from app.worker.settings import WorkerSettings
from app.worker.tested_engine import TestedEngine
from app.worker.verdicts import SelfTestEntry, Verdicts
from engine.client.agreement import Finding, Outcome, compare, look_at
from engine.client.ladder import GPU_KINDS, WRONG_RESULTS
from engine.client.session import WorkerState
from engine.memory.host import read_ram
from engine.memory.tree import Tree, sysroot
from engine.protocol.frames import Failed, SelfTested
from engine.protocol.probe import Probe, Reference
from engine.protocol.types import LoadOptions, ModelInfo

NOTICE = "self-test"
REST_MS = 3000
"""The engine has to be unused for so long before the CPU computes; four times as long after each interruption."""

MOST_TRIES = 3
RESERVE = 3 << 29
"""Bytes of RAM that stay available beside the file: 1.5 GiB, as much as a Deck needs to stay usable."""

INTERRUPTED = "The comparison with the CPU was interrupted by messages."
ACCEPT = "Do not warn again"
SHORT_LINES = 2
"""Of the figures of a test that went well."""


@dataclass(frozen=True)
class Waiting:
    """A probe that the CPU has not looked at yet."""

    model: ModelInfo
    options: LoadOptions
    probe: Probe


def available_ram() -> int | None:
    """``MemAvailable`` in bytes."""
    return read_ram(Tree(sysroot())).available


class SelfTests(QObject):
    """Tests what is loaded, keeps the verdicts, and warns.

    Args:
        engine: The worker service.
        store: Holds `SelfTestSettings`, and `WorkerSettings` with the switch.
        notices: Where a failure is told.
        link: For the process of the comparison.
        runner: Reads how much RAM is left, off the GUI thread.
        available: That reading.

    Attributes:
        judged: `SelfTestEntry` of the loaded model.
    """

    judged = Signal(object)

    def __init__(
        self,
        engine: TestedEngine,
        store: SettingsStore,
        notices: Notices,
        link: WorkerConnection,
        runner: SerialRunner,
        parent: QObject | None = None,
        available: Callable[[], int | None] = available_ram,
    ) -> None:
        super().__init__(parent)
        self._engine, self._store, self._notices = engine, store, notices
        self._runner, self._available = runner, available
        self._kept = Verdicts(store)
        self._entry: SelfTestEntry | None = None
        self._waiting: Waiting | None = None
        self._tries = 0
        self._comparison = Comparison(link, self)
        self._comparison.ended.connect(self._compared)
        self.rest = QTimer(self)
        self.rest.setSingleShot(True)
        self.rest.timeout.connect(self._rested)
        engine.model_changed.connect(self._take_model)
        engine.state_changed.connect(self._take_state)

    @property
    def entry(self) -> SelfTestEntry | None:
        """What is known of the loaded model; None while it is tested, and without one."""
        return self._entry

    @property
    def comparing(self) -> bool:
        """The CPU computes."""
        return self._comparison.running

    def shutdown(self) -> None:
        """End the comparison before this returns. Only for the end of the program."""
        self._comparison.shutdown()

    def _take_model(self, model: ModelInfo | None) -> None:
        self._forget()
        if model is None or not model.fingerprint or not self._store.get(WorkerSettings).self_test:
            return
        self._entry = self._kept.find(model.fingerprint)
        if self._entry is None:
            self._engine.self_test(partial(self._tested, model))
        elif self._entry.failed:
            # A moment later: the service has not noted yet what it has loaded.
            QTimer.singleShot(0, self, partial(self._warn, self._entry, model))

    def _forget(self) -> None:
        if self._entry is not None and self._entry.failed:
            self._notices.withdraw(NOTICE)
        self._entry, self._waiting, self._tries = None, None, 0
        self.rest.stop()
        self._comparison.cancel()

    def _tested(self, model: ModelInfo, event: SelfTested | Failed) -> None:
        last = self._engine.last_load
        if self._engine.model != model or last is None:
            return
        if isinstance(event, Failed):
            if event.code not in NOT_WANTED:
                self._judge(model, Finding(outcome=Outcome.UNCHECKED, detail=event.message))
            return
        finding = look_at(event.probe)
        if finding.outcome is Outcome.OK and not on_cpu(model):
            self._waiting = Waiting(model, last[1], event.probe)
            self._rest()
        else:
            self._judge(model, finding)

    def _judge(self, model: ModelInfo, finding: Finding) -> None:
        entry = SelfTestEntry(
            fingerprint=model.fingerprint,
            model=model.path,
            device=model.device.name,
            outcome=finding.outcome.value,
            detail=finding.detail if finding.failed else "\n".join(finding.detail.splitlines()[:SHORT_LINES]),
        )
        self._waiting, self._entry = None, entry
        self._kept.remember(entry)
        self.judged.emit(entry)
        if finding.failed:
            self._warn(entry, model)

    def _warn(self, entry: SelfTestEntry, model: ModelInfo) -> None:
        if self._engine.model != model or entry.accepted:
            return
        outcome = Outcome(entry.outcome)
        offered = self._offer(model, entry.detail)
        text = warning(outcome, model, bool(offered))
        actions = (*offered, Action(ACCEPT, partial(self._accept, entry)))
        self._notices.post(Notice(NOTICE, Severity.WARN, text, report(outcome, model, entry.detail), actions))

    def _offer(self, model: ModelInfo, detail: str) -> tuple[Action, ...]:
        safe_mode, last = self._engine.safe_mode, self._engine.last_load
        if safe_mode is None or last is None or model.device.kind not in GPU_KINDS:
            return ()
        return safe_mode.offer(*last, WRONG_RESULTS, detail)

    def _accept(self, entry: SelfTestEntry) -> None:
        accepted = msgspec.structs.replace(entry, accepted=True)
        self._kept.remember(accepted)
        if self._entry == entry:
            self._entry = accepted

    def _take_state(self, state: WorkerState) -> None:
        """A message goes before the comparison, which begins again later."""
        waiting = self._waiting
        if waiting is None:
            return
        if state is WorkerState.READY:
            self._rest()
            return
        self.rest.stop()
        if self._comparison.running:
            self._comparison.cancel()
            self._tries += 1
            if self._tries >= MOST_TRIES:
                self._judge(waiting.model, Finding(outcome=Outcome.UNCHECKED, detail=INTERRUPTED))

    def _rest(self) -> None:
        self.rest.start(REST_MS * 4**self._tries)

    def _rested(self) -> None:
        if self._free and not self._comparison.running:
            self._runner.run(self._available, self._take_room)
        elif self._free:
            self._rest()

    @property
    def _free(self) -> bool:
        return self._waiting is not None and self._engine.state is WorkerState.READY

    def _take_room(self, result: Result[int | None]) -> None:
        waiting = self._waiting
        if waiting is None or not self._free or self._comparison.running:
            return
        available = result.value if isinstance(result, Ok) else None
        if available is None or available < waiting.model.size_bytes + RESERVE:
            self._judge(
                waiting.model, Finding(outcome=Outcome.UNCHECKED, detail=no_room(waiting.model, available, RESERVE))
            )
            return
        reference = Reference(path=waiting.model.path, options=waiting.options, probe=waiting.probe)
        self._comparison.start(reference, self._without_gpus())

    def _without_gpus(self) -> dict[str, str]:
        """No backend but the CPU's: others wake cards and take memory there. Also those that the user switched off."""
        hello = self._engine.hello
        others = [] if hello is None else [b.name for b in hello.backends if b.name != "CPU"]
        return {OFF_ENV: ",".join(others)} if others else {}

    def _compared(self, result: Probe | Failed) -> None:
        waiting = self._waiting
        if waiting is None:
            return
        if isinstance(result, Failed):
            finding = Finding(outcome=Outcome.UNCHECKED, detail=result.message)
        else:
            finding = compare(waiting.probe, result)
        self._judge(waiting.model, finding)
