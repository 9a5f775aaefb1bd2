"""What the window does with models: load one, stop loading, give the memory back, take the starter."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.library.service import InstalledModel, LibraryService
from app.load.preparation import Preparation
from app.load.service import LoadService
from app.notices import Action, Notice, Notices, Severity
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from app.worker.service import NOTICE as DEATH_NOTICE
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.errors import VrambleError
from engine.library.names import shown
from engine.loading.profile import Suit
from engine.memory.fit.records import FitPlan
from engine.protocol.frames import Failed, Loaded
from engine.protocol.types import LoadOptions, ModelInfo
from ui.chat import fit_offer

LOAD_NOTICE = "model-load"
OF_OPTIONS = frozenset(
    {"bad-load-options", "context-memory", "out-of-memory", "lora-missing", "lora-damaged", "not-a-lora"}
    | {"lora-mismatch", "lora-failed"}
)
"""Codes of failures that other load options avoid."""

OF_MEMORY = frozenset({"context-memory", "out-of-memory"})
"""Those that the forecast has something to say to."""


class ModelActions(QObject):
    """Turns clicks into calls of the services, and failures into notices with a next step.

    Attributes:
        loading_changed: Name of the model that is being loaded, or "".
        coming_changed: `coming` is another one.
        loaded: A model was loaded because the user asked for it.
        manager_wanted: The model manager window should open.
        options_wanted: The load options of a model (path) should be shown, beginning with these; None: with those
            that it would be loaded with.
        starter_busy: The starter model is being added.
    """

    loading_changed = Signal(str)
    coming_changed = Signal(str)
    loaded = Signal()
    manager_wanted = Signal()
    options_wanted = Signal(object, object)
    starter_busy = Signal(bool)

    def __init__(
        self,
        worker: WorkerService,
        library: LibraryService,
        settings: SettingsStore,
        notices: Notices,
        options: LoadService,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker, self._library, self._settings, self._notices = worker, library, settings, notices
        self._options = options
        self._request: int | None = None
        self._preparation: Preparation | None = None
        self._asked = self._told = self._told_coming = ""
        for signal in (worker.state_changed, worker.model_changed, library.models_changed, settings.changed):
            signal.connect(self._tell_name)
        worker.model_changed.connect(self._model_changed)
        self._told_coming = self.coming

    @property
    def loading(self) -> str:
        """Name of the model that is being loaded, or ""; also of one that a message needs."""
        if self._asked or self._worker.state is not WorkerState.LOADING:
            return self._asked
        safe_mode = self._worker.safe_mode
        tried = safe_mode.climbing if safe_mode is not None else None
        return self._name_of(tried or Path(self._settings.get(EngineSettings).last_model))

    @property
    def coming(self) -> str:
        """Name of the model that is being loaded, or that the next message loads again; "" when one is loaded."""
        if self._worker.model is not None or self.loading:
            return self.loading
        if self._worker.last_load is not None:
            return self._name_of(self._worker.last_load[0])
        last = self._settings.get(EngineSettings).last_model
        there = self._library.scanning or any(str(model.path) == last for model in self._library.models)
        return self._name_of(Path(last)) if last and there else ""

    def load(self, path: Path, options: LoadOptions | None = None, *, remember: bool = False) -> None:
        """Load ``path``; a running answer is not cut off without asking.

        Args:
            options: Chosen for this load; None: as remembered for this model, or as suits it.
            remember: Keep ``options`` for this model when it could be loaded with them.
        """
        if self._worker.state is WorkerState.GENERATING:
            run = partial(self._load, path, options, remember)
            self._notices.post(
                Notice(
                    LOAD_NOTICE,
                    Severity.WARN,
                    self.tr("An answer is being written. Loading a model ends it; what is there stays."),
                    actions=(Action(self.tr("End it and load"), run),),
                )
            )
            return
        self._load(path, options, remember)

    def load_as_chosen(self, path: Path, options: LoadOptions, remember: bool) -> None:
        """What the load dialog says."""
        self.load(path, options, remember=remember)

    def choose_options(self, path: Path, options: LoadOptions | None = None) -> None:
        """Show the load options of ``path``: these, those it is loaded with, or how it would be loaded."""
        self.options_wanted.emit(path, options or self.options_in_use(path))

    def change_options(self) -> None:
        """Show the load options of the model that is loaded, or that comes back with the next message."""
        if (path := self.changeable) is not None:
            self.choose_options(path)

    @property
    def changeable(self) -> Path | None:
        """The model whose options `change_options` shows."""
        last = self._worker.last_load
        return last[0] if last is not None else None

    def suits_in_use(self) -> tuple[Suit, ...]:
        """In what the last load suits the device without having been asked to."""
        last = self._worker.last_load
        return () if last is None else self._options.suits_of(*last)

    def options_in_use(self, path: Path) -> LoadOptions | None:
        """What the last load of ``path`` asked for, if it was the last one that succeeded."""
        last = self._worker.last_load
        return last[1] if last is not None and last[0] == path else None

    def cancel_load(self) -> bool:
        """Stop loading what the user asked for; False when nothing was asked for."""
        safe_mode = self._worker.safe_mode
        if safe_mode is not None and safe_mode.climbing is not None:
            safe_mode.stop()
            return True
        if self._preparation is not None:
            self._prepare_no_more()
            self._set_asked("")
            return True
        if self._request is None:
            return False
        self._worker.cancel(self._request)
        return True

    def unload(self) -> None:
        """Give the model's memory back."""
        self._worker.unload()

    def add_starter(self) -> None:
        """Put the starter model into the models folder and load it."""
        self.starter_busy.emit(True)
        self._library.add_starter(self._starter_added)

    def _load(self, path: Path, options: LoadOptions | None, remember: bool) -> None:
        self._notices.withdraw(LOAD_NOTICE)
        self._prepare_no_more()
        self._set_asked(self._name_of(path))
        if options is not None or self._options.remembered.find(path) is not None:
            self._load_with(path, options or self._options.options_for(path), remember)
            return
        chosen = self._options.options_for(path)

        def prepared(plan: FitPlan | None) -> None:
            self._preparation = None
            if plan is None:
                self._load_with(path, chosen, remember)
            else:
                self._offer(path, chosen, plan)

        preparation = self._options.prepare(path, chosen, prepared)
        self._preparation = preparation if preparation.waiting else None

    def _prepare_no_more(self) -> None:
        if self._preparation is not None:
            self._preparation.cancel()
            self._preparation = None

    def _offer(self, path: Path, options: LoadOptions, plan: FitPlan) -> None:
        """It would not fit as it is: say so, with what would."""
        self._set_asked("")
        actions = (
            *self._fitting(path, options, plan),
            Action(self.tr("Load options…"), lambda: self.choose_options(path, options)),
            Action(self.tr("Load anyway"), lambda: self.load(path, options)),
        )
        text = fit_offer.refusal(self._name_of(path), plan)
        self._notices.post(Notice(LOAD_NOTICE, Severity.WARN, text, shown(path), actions))

    def _fitting(self, path: Path, options: LoadOptions, plan: FitPlan | None) -> tuple[Action, ...]:
        """What fits, as buttons."""
        if plan is None:
            return ()
        return fit_offer.offers(plan, self._options.suggest(path, options), lambda changed: self.load(path, changed))

    def _load_with(self, path: Path, chosen: LoadOptions, remember: bool) -> None:
        def finish(outcome: Loaded | Failed) -> None:
            if remember and isinstance(outcome, Loaded):
                self._options.remembered.remember(path, chosen)
            self._finish(path, chosen, outcome)

        self._request = self._worker.load(path, chosen, finish)

    def _finish(self, path: Path, options: LoadOptions, outcome: Loaded | Failed) -> None:
        if outcome.id != self._request:
            return
        self._request = None
        self._set_asked("")
        if isinstance(outcome, Loaded):
            self.loaded.emit()
        elif outcome.code not in ("cancelled", "stopped"):
            self._post_failure(path, options, outcome)

    def _post_failure(self, path: Path, options: LoadOptions, failed: Failed) -> None:
        """Say why, with what can be done. It takes the place of the worker's own notice of this failure."""
        safe_mode = self._worker.safe_mode
        safer = safe_mode.offer(path, options, failed.code, failed.detail) if safe_mode is not None else ()
        if safer or self._worker.state is WorkerState.CRASHED:
            self._notices.withdraw(DEATH_NOTICE)
        plan = self._options.forecast(path, options) if failed.code in OF_MEMORY else None
        text = " ".join(filter(None, (failed.message, failed.next_step, fit_offer.short_of_memory(plan))))
        detail = "\n".join(part for part in (shown(path), failed.code, failed.detail) if part)
        change = Action(self.tr("Load options…"), lambda: self.choose_options(path, options))
        actions = (
            *safer,
            *(() if safer else self._fitting(path, options, plan)),
            *((change,) if failed.code in OF_OPTIONS else ()),
            Action(self.tr("Try again"), lambda: self.load(path, options)),
            Action(self.tr("Models"), self.manager_wanted.emit),
        )
        self._notices.post(Notice(LOAD_NOTICE, Severity.ERROR, text, detail, actions))

    def _starter_added(self, outcome: InstalledModel | VrambleError) -> None:
        self.starter_busy.emit(False)
        if isinstance(outcome, VrambleError):
            actions = (Action(self.tr("Try again"), self.add_starter),)
            self._notices.post(Notice(LOAD_NOTICE, Severity.ERROR, outcome.sentence, outcome.detail, actions))
        else:
            self.load(outcome.path)

    def _model_changed(self, model: ModelInfo | None) -> None:
        """What kept a load back is over once one succeeds, also one that a message asked for."""
        if model is not None:
            self._notices.withdraw(LOAD_NOTICE)

    def _name_of(self, path: Path) -> str:
        return next((m.name for m in self._library.models if m.path == path), path.stem)

    def _set_asked(self, name: str) -> None:
        self._asked = name
        self._tell_name()

    def _tell_name(self) -> None:
        if self._told != self.loading:
            self._told = self.loading
            self.loading_changed.emit(self._told)
        if self._told_coming != self.coming:
            self._told_coming = self.coming
            self.coming_changed.emit(self._told_coming)
