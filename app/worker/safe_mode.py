"""Climbs the safe-mode ladder: loads a model again with one safer setting more until it works."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, SignalInstance

from app.notices import Action, Notice, Notices, Severity
from app.settings.store import SettingsStore
from app.worker.safer_settings import SafeModeEntry, SaferSettings, rungs_of
from engine.client import ladder
from engine.client.ladder import Rung
from engine.protocol.frames import Failed, Hello, Loaded
from engine.protocol.types import DeviceInfo, LoadOptions, ModelInfo

NOTICE = "worker"
"""Also the key of the worker's own notices: one end, one notice. A load that succeeds withdraws it."""

DONE_MS = 15_000
WORDS = "Try safer settings"
LAST_STEP = "Choose another model; the diagnosis in the settings may tell what is wrong."
NOT_WANTED = ("cancelled", "stopped")


class LadderEngine(Protocol):
    """What climbing needs of the worker service."""

    @property
    def hello(self) -> Hello | None:
        """Its devices."""

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What was loaded last, as the user asked."""

    @property
    def model_changed(self) -> SignalInstance:
        """Emits `ModelInfo` or None."""

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        """Load a model, with what `SafeMode.plan` makes of the options."""

    def cancel(self, request_id: int) -> None:
        """End a request."""


@dataclass(frozen=True)
class SafeLoad:
    """What to send, what the worker's environment has to hold more, and the safer settings this comes of."""

    options: LoadOptions
    environment: dict[str, str] = field(default_factory=dict)
    entry: SafeModeEntry | None = None


@dataclass(frozen=True)
class Trouble:
    """A load that failed, or a model that failed while it answered.

    Attributes:
        options: As the user asked.
        tried: The rungs it had.
    """

    path: Path
    options: LoadOptions
    device: DeviceInfo
    code: str
    tried: tuple[Rung, ...]
    n_layers: int

    @property
    def next_rung(self) -> Rung | None:
        """What to change next."""
        return ladder.next_rung(self.options, self.device, self.code, self.tried, self.n_layers)


class SafeMode(QObject):
    """Offers safer settings after a failure, tries them, and keeps for model and device what worked.

    Args:
        engine: Loads the model. It asks `plan` for each load.
        store: Holds `SafeModeSettings`.
        notices: Where it is told what is tried.
        layers: Layers of an installed model, 0 when unknown.
    """

    def __init__(
        self,
        engine: LadderEngine,
        store: SettingsStore,
        notices: Notices,
        layers: Callable[[Path], int] = lambda _path: 0,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        # No cycle with the engine that owns this: the cyclic collector may run on any thread, and would end it there.
        self._engine: LadderEngine = weakref.proxy(engine)
        self._notices, self._layers = notices, layers
        self._kept = SaferSettings(store)
        self._trouble: Trouble | None = None
        self._trial: SafeModeEntry | None = None
        self._request = 0
        self._used: SafeModeEntry | None = None
        self._seen_layers: tuple[str, int] = ("", 0)
        engine.model_changed.connect(self._note_layers)

    @property
    def climbing(self) -> Path | None:
        """The model that is being tried with safer settings."""
        return None if self._trouble is None else self._trouble.path

    @property
    def in_use(self) -> tuple[str, ...]:
        """What is safer than asked in the load of the present model, as sentences."""
        return ladder.sentences(rungs_of(self._used)) if self._engine.model is not None else ()

    def needs_devices(self, path: Path) -> bool:
        """`plan` has to know the devices to say how ``path`` is loaded."""
        return self._engine.hello is None and self._kept.knows(path)

    def plan(self, path: Path, options: LoadOptions) -> SafeLoad:
        """How to load ``path`` now: as asked, or with what is being tried or was kept for it."""
        device = self._device(options)
        entry = None if device is None else self._entry(path, _key(device))
        if entry is None:
            return SafeLoad(options)
        rungs = rungs_of(entry)
        return SafeLoad(ladder.apply(options, rungs, entry.n_layers), ladder.environment(rungs), entry)

    def sent(self, load: SafeLoad) -> None:
        """The worker was given ``load``."""
        self._used = load.entry

    def offer(self, path: Path, options: LoadOptions, code: str, detail: str) -> tuple[Action, ...]:
        """The button for the notice of a failure; empty when nothing safer could help.

        Args:
            options: As the user asked.
            code: Of the failure or the worker's death; `engine.client.ladder.HANG` for an unanswered cancel.
            detail: Its log.
        """
        device = self._device(options)
        if device is None or self.climbing == path:
            return ()
        entry = self._entry(path, _key(device))
        n_layers = self._layers_of(path) or (entry.n_layers if entry is not None else 0)
        trouble = Trouble(path, options, device, ladder.cause(code, detail), rungs_of(entry), n_layers)
        return () if trouble.next_rung is None else (Action(WORDS, lambda: self._climb(trouble)),)

    def stop(self) -> None:
        """Stop trying, if something is tried."""
        if self._trouble is not None:
            self._engine.cancel(self._request)

    def use_normal(self) -> None:
        """Forget what is kept for the present model on its device, and load it again as asked."""
        last, entry = self._engine.last_load, self._used
        if last is None or entry is None:
            return
        path, options = last
        self._kept.forget(path, entry.device)
        self._engine.load(path, options, lambda event: self._normal_tried(path, options, event))

    def _climb(self, trouble: Trouble) -> None:
        rung = trouble.next_rung
        if rung is None or self._trouble is not None:
            return
        self._trouble = trouble
        rungs = (*trouble.tried, rung)
        self._trial = SafeModeEntry(
            model=str(trouble.path), device=_key(trouble.device), rungs=rungs, n_layers=trouble.n_layers
        )
        text = f"Loading {trouble.path.stem} again with safer settings: {ladder.SENTENCES[rung]}"
        self._notices.post(Notice(NOTICE, Severity.INFO, text, actions=(Action("Stop", self.stop),)))
        self._request = self._engine.load(trouble.path, trouble.options, lambda event: self._tried(trouble, event))

    def _tried(self, trouble: Trouble, event: Loaded | Failed) -> None:
        trial, self._trial, self._trouble = self._trial, None, None
        if isinstance(event, Loaded):
            if trial is not None:
                self._works(trouble, trial)
        elif event.code in NOT_WANTED:
            self._notices.withdraw(NOTICE)
        else:
            code = ladder.cause(event.code, event.detail)
            higher = replace(trouble, code=code, tried=rungs_of(trial))
            if higher.next_rung is None:
                self._gave_up(event, on_cpu=Rung.CPU in higher.tried)
            else:
                self._climb(higher)

    def _works(self, trouble: Trouble, trial: SafeModeEntry) -> None:
        self._kept.remember(trial)
        changes = " ".join(ladder.sentences(rungs_of(trial)))
        text = f"{trouble.path.stem} is loaded with safer settings, which are kept for it on this device. {changes}"
        self._notices.post(Notice(NOTICE, Severity.INFO, text, timeout_ms=DONE_MS))

    def _gave_up(self, failed: Failed, *, on_cpu: bool) -> None:
        """With the CPU tried, the words of a failure that point to it would be no help."""
        next_step = LAST_STEP if on_cpu else failed.next_step
        text = f"Safer settings did not help. {failed.message} {next_step}".strip()
        self._notices.post(Notice(NOTICE, Severity.ERROR, text, failed.detail))

    def _normal_tried(self, path: Path, options: LoadOptions, event: Loaded | Failed) -> None:
        if isinstance(event, Failed) and event.code not in NOT_WANTED:
            text = f"{event.message} {event.next_step}".strip()
            actions = self.offer(path, options, event.code, event.detail)
            self._notices.post(Notice(NOTICE, Severity.ERROR, text, event.detail, actions))

    def _entry(self, path: Path, device: str) -> SafeModeEntry | None:
        trial = self._trial
        if trial is not None and (trial.model, trial.device) == (str(path), device):
            return trial
        return self._kept.find(path, device)

    def _device(self, options: LoadOptions) -> DeviceInfo | None:
        hello = self._engine.hello
        return None if hello is None else ladder.main_gpu(hello.devices, options)

    def _layers_of(self, path: Path) -> int:
        seen, count = self._seen_layers
        return count if seen == str(path) else self._layers(path)

    def _note_layers(self, model: ModelInfo | None) -> None:
        if model is not None:
            self._seen_layers = (model.path, model.n_layers)


def _key(device: DeviceInfo) -> str:
    return device.pci or device.id
