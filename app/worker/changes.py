"""Which settings the running engine does not have yet, and how it gets them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.settings.records import BackendSettings, EngineSettings
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.types import LoadOptions, ModelInfo

GONE = (WorkerState.STOPPED, WorkerState.CRASHED)


class EngineChanges(QObject):
    """Compares what is set with what the running process and the loaded model were given.

    Args:
        options_for: What a load of this model would be given now.

    Attributes:
        changed: `restart_needed`, `reload_needed`, `busy` or `loading` may be another.
        reload_wanted: The process ended as asked; this model should be loaded into a new one.
    """

    changed = Signal()
    reload_wanted = Signal(object)

    def __init__(
        self,
        worker: WorkerService,
        settings: SettingsStore,
        options_for: Callable[[Path], LoadOptions],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker, self._settings, self._options_for = worker, settings, options_for
        self._given: BackendSettings | None = None
        self._loaded_under = EngineSettings().load_options()
        self._restarting = False
        self._model: Path | None = None
        worker.state_changed.connect(self._follow)
        worker.model_changed.connect(self._model_changed)
        settings.changed.connect(lambda _feature: self.changed.emit())
        self._follow(worker.state)

    @property
    def restart_needed(self) -> bool:
        """The running process was started with other settings of the backends."""
        return self._given is not None and self._given != self._settings.get(BackendSettings)

    @property
    def reload_needed(self) -> bool:
        """The settings for all models changed since the model was loaded, and its next load would be another.

        What suits a device by itself follows the free memory, so that alone is no reason.
        """
        last = self._worker.last_load
        if self._worker.model is None or last is None or self._loaded_under == self._defaults():
            return False
        path, options = last
        return options != self._options_for(path)

    @property
    def has_model(self) -> bool:
        """A model is loaded, so that changes concern it."""
        return self._worker.model is not None

    @property
    def busy(self) -> bool:
        """An answer is being written, which a restart would end."""
        return self._worker.state is WorkerState.GENERATING

    @property
    def loading(self) -> bool:
        """A model is being loaded: a restart would lose it."""
        return self._worker.state is WorkerState.LOADING

    def restart(self) -> None:
        """End the process, start another, and load the model again if there was one. Returns at once."""
        last = self._worker.last_load
        self._model = last[0] if last is not None and self._worker.model is not None else None
        self._restarting = True
        if self._worker.state in GONE:
            self._start()
        else:
            self._worker.stop()

    def _defaults(self) -> LoadOptions:
        return self._settings.get(EngineSettings).load_options()

    def _model_changed(self, model: ModelInfo | None) -> None:
        if model is not None:
            self._loaded_under = self._defaults()
        self.changed.emit()

    def _follow(self, state: WorkerState) -> None:
        if state in GONE:
            self._given = None
            if self._restarting:
                self._start()
        elif self._given is None and state is not WorkerState.STOPPING:
            self._given = self._settings.get(BackendSettings)
        self.changed.emit()

    def _start(self) -> None:
        self._restarting = False
        model, self._model = self._model, None
        if model is None:
            self._worker.start()
        else:
            self.reload_wanted.emit(model)
