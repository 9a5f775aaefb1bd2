"""How each model is loaded: as remembered, else as suits the device, else by the settings for all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.jobs import Executor
from app.load.companions import Companions
from app.load.draft import LoadDraft
from app.load.drafts import DraftChoice, DraftChoices
from app.load.dry_runs import DryRuns
from app.load.expected import ExpectedDevice
from app.load.headers import Headers, Key
from app.load.installed import Installed
from app.load.preparation import Preparation
from app.load.remembered import RememberedOptions
from app.load.siblings import first_that_fits, siblings
from app.settings.store import SettingsStore
from engine.errors import VrambleError
from engine.library.records import InstalledModel
from engine.loading.check import problems
from engine.loading.facts import ModelFacts
from engine.loading.profile import Profile, Suit, suited
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice, FitModel, FitPlan, Measured, Suggestion
    from engine.memory.fit.image import Encoder


class LoadService(QObject):
    """Options for every load of the window, and drafts for the dialog that changes them.

    On integrated graphics a model without options of its own gets those that suit it.

    Args:
        store: Where options are remembered.
        executor: Reads headers of models.
        devices: What the worker told; empty before it did.
        machine: The same devices with their room now, for forecasts.
        models: What the library has.
        dry_runs: Asks the engine what a load would allocate; None: forecasts are reckoned only.
        companions: What the library has beside models: image encoders among it.

    Attributes:
        measured: A dry run has ended, or forecasts are corrected otherwise now.
        forget_wanted: What loads taught about these devices should be forgotten.
        known: More is known: the worker told its devices, or the header of a model was read.
    """

    known = Signal()
    measured = Signal()
    forget_wanted = Signal(object)

    def __init__(
        self,
        store: SettingsStore,
        executor: Executor,
        devices: Callable[[], Sequence[DeviceInfo]],
        machine: Callable[[], Sequence[FitDevice]],
        models: Callable[[], Sequence[InstalledModel]],
        parent: QObject | None = None,
        dry_runs: DryRuns | None = None,
        companions: Callable[[], Sequence[InstalledModel]] = tuple,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._installed = Installed(models).find
        self._devices, self._machine = devices, machine
        self._expected = ExpectedDevice(store, devices)
        self._headers = Headers(executor, self._size_of, self)
        self._headers.read.connect(self.known)
        self._companions = Companions(self._headers, companions)
        self._drafts = DraftChoices(self._headers, models)
        self._suited: dict[Path, Profile] = {}
        self._dry_runs = dry_runs
        if dry_runs is not None:
            dry_runs.changed.connect(self.measured)
        self.remembered = RememberedOptions(store, self._size_of)

    @property
    def defaults(self) -> LoadOptions:
        """The settings for all models."""
        return self.remembered.defaults

    @property
    def devices(self) -> Sequence[DeviceInfo]:
        """What the worker told; empty before it did."""
        return self._devices()

    def options_for(self, path: Path) -> LoadOptions:
        """How ``path`` is loaded when nothing else is said."""
        remembered = self.remembered.find(path)
        if remembered is not None:
            return remembered
        if self._expected.of(self.defaults).kind is not DeviceKind.IGPU:
            return self.defaults
        self._suited[path] = profile = self.profile(path, self.defaults)
        return profile.options

    def suits_of(self, path: Path, options: LoadOptions) -> tuple[Suit, ...]:
        """In what a load of ``path`` with ``options`` suits the device without being asked to."""
        profile = self._suit(path, options)
        return () if profile is None else profile.changes

    def _suit(self, path: Path, options: LoadOptions) -> Profile | None:
        profile = self._suited.get(path)
        fresh = profile is not None and profile.options == options and self.remembered.find(path) is None
        return profile if fresh else None

    def profile(self, path: Path, base: LoadOptions) -> Profile:
        """``base`` with what suits the device that it will most likely run on."""
        seen = self._expected.of(base)
        return suited(base, seen.kind, seen.room, self._size_of(path), quantised_kv=self.facts(path).quantised_kv)

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        """What a load would take; None while model or devices are not known."""
        model = self._fit_model(path, options)
        if model is None or not self.devices:
            return None
        from engine.memory.fit import predict

        try:
            return predict(model, options, self._machine(), self._measured(path, options))
        except VrambleError:
            return None

    def forecast_of(self, model: FitModel) -> FitPlan | None:
        """What a load of a model that is not here would take, with the options for all models."""
        from engine.memory.fit import predict

        try:
            return predict(model, self.defaults, self._machine()) if self.devices else None
        except VrambleError:
            return None

    def suggest_for(self, model: FitModel) -> tuple[Suggestion, ...]:
        """Changes with which it would fit."""
        from engine.memory.fit import suggest

        return suggest(model, self.defaults, self._machine()) if self.forecast_of(model) is not None else ()

    def suggest(self, path: Path, options: LoadOptions) -> tuple[Suggestion, ...]:
        """Changes with which ``options`` would fit, the one that costs least first; none when they fit."""
        model = self._fit_model(path, options)
        if model is None or self.forecast(path, options) is None:
            return ()
        from engine.memory.fit import suggest

        return suggest(model, options, self._machine(), self._measured(path, options))

    def other_quant(self, path: Path, options: LoadOptions) -> InstalledModel | None:
        """The largest other quant of the model that is here and fits with ``options``, as far as that is known."""
        found = siblings(self._models(), path)
        for model in found:
            self._headers.ask(model.path)
        return first_that_fits(found, lambda other: self.forecast(other, options))

    def refine(self, path: Path, options: LoadOptions) -> bool:
        """Ask the engine what a load with ``options`` allocates, in place of earlier questions; `measured` follows.

        False: there is nothing to wait for.
        """
        model = self._fit_model(path, options)
        if self._dry_runs is None or model is None or not self.devices or any(True for _ in problems(options)):
            return False
        self._dry_runs.want(self._key(path), options, model, tuple(self._machine()))
        return self.is_refining(path, options)

    def prepare(self, path: Path, options: LoadOptions, done: Callable[[FitPlan | None], None]) -> Preparation:
        """Before a load whose options nobody chose: ``done`` gets None when it can go on, else a plan that would not
        fit, with a proposal that does if there is one. It may be called before this returns."""
        preparation = Preparation(self, path, options, done, self)
        preparation.begin()
        return preparation

    def refusal(self, path: Path, options: LoadOptions) -> VrambleError | None:
        """Why a load that nobody asked for would not fit, as far as that is known now; None for remembered options.

        The detail is the path: with `prepare` the engine says for sure, and what would fit.
        """
        from engine.memory.fit.records import Verdict

        plan = None if self.remembered.find(path) is not None else self.forecast(path, options)
        if plan is None or plan.verdict not in (Verdict.NO, Verdict.PARTLY):
            return None
        name = self._name_of(path)
        message = f"{name} would not fit. {plan.reason}"
        return VrambleError("does-not-fit", message, "Choose how it is loaded.", str(path))

    def expect(self, last: str) -> None:
        """The model that the next message loads: what it needs should be known by then."""
        if last:
            self._headers.ask(Path(last))

    def is_refining(self, path: Path, options: LoadOptions) -> bool:
        """The engine is being asked about just these options."""
        return self._dry_runs is not None and self._dry_runs.is_asked(self._key(path), options)

    def forget_learned(self) -> None:
        """Forget what earlier loads taught about all devices."""
        self.forget_wanted.emit(tuple(self.devices))

    def leave_refining(self) -> None:
        """Nobody waits for the engine's figures any more."""
        if self._dry_runs is not None:
            self._dry_runs.leave()

    def read_header(self, path: Path) -> bool:
        """Read the header of ``path`` unless that was done; `known` follows. True: it was."""
        self._headers.ask(path)
        return self._headers.facts(path) is not None

    def _measured(self, path: Path, options: LoadOptions) -> Measured | None:
        return None if self._dry_runs is None else self._dry_runs.measured(self._key(path), options)

    def _fit_model(self, path: Path, options: LoadOptions) -> FitModel | None:
        """The model with the files that ``options`` name beside it."""
        model = self.facts(path).fit
        return None if model is None else self._companions.together(model, options)

    def encoders(self, path: Path) -> tuple[Encoder, ...]:
        """Image encoders that lie beside the model and can belong to it."""
        return self._companions.encoders(path, self.facts(path).fit)

    def guessers(self, path: Path) -> tuple[DraftChoice, ...]:
        """Models of the library that could guess for the one at ``path``, the smallest first."""
        return self._drafts.of(path)

    def _key(self, path: Path) -> Key:
        return path, self._size_of(path)

    def facts(self, path: Path) -> ModelFacts:
        """What is known of a model now; before its header was read, what the library says."""
        read = self._headers.facts(path)
        model = self._installed(path)
        if read is not None or model is None:
            return read or ModelFacts()
        return ModelFacts(n_layers=model.n_layers, n_ctx_train=model.context_length)

    def draft(self, path: Path, options: LoadOptions | None = None, parent: QObject | None = None) -> LoadDraft:
        """A draft that begins with ``options``, or with how ``path`` is loaded when nothing else is said."""
        begin = options or self.options_for(path)
        draft = LoadDraft(path, self._name_of(path), begin, self, self._suit(path, begin), parent)
        self.known.connect(draft.refresh)
        self.measured.connect(draft.measured)
        self._headers.ask(path)
        return draft

    def take_devices(self) -> None:
        """The worker told its devices."""
        if self.devices:
            self._expected.keep(self.defaults)
        self.known.emit()
        self.take_models()

    def take_models(self) -> None:
        """The library has other models. What a profile asks of them is read ahead, where one may be used."""
        if self._expected.of(self.defaults).kind is DeviceKind.IGPU:
            self._headers.read_ahead(model.path for model in self._models() if model.can_chat)

    def shutdown(self) -> None:
        """Read nothing more, ask nothing more. Only for quitting."""
        if self._dry_runs is not None:
            self._dry_runs.shutdown()
        self._headers.shutdown()

    def _name_of(self, path: Path) -> str:
        model = self._installed(path)
        return path.stem if model is None else model.label

    def _size_of(self, path: Path) -> int | None:
        model = self._installed(path)
        return None if model is None else model.size_bytes
