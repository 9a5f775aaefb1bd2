"""Which model answers when none is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject

from app.chat.engine_seam import AnswerEngine
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.errors import VrambleError
from engine.protocol.types import LoadOptions, ModelInfo

DOES_NOT_FIT = "does-not-fit"
"""Code of a refusal whose detail is the path of the model: what would fit has to be found first."""


class Installed(Protocol):
    """What is asked of an installed model."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def can_chat(self) -> bool:
        """Whether it can answer."""


@dataclass(frozen=True)
class Choice:
    """A model to load."""

    path: Path
    options: LoadOptions


class ModelChoice(QObject):
    """The model that was loaded last, else the only one there is; never another one unasked.

    Keeps `EngineSettings.last_model`.

    Args:
        engine: Whose loads are remembered.
        settings: Where they are remembered.
        installed: The installed models; None while they are not known yet.
        options_for: How a model is loaded; None: by the settings for all models.
        refuse: Why a model must not be loaded like this without asking, or None.
    """

    def __init__(
        self,
        engine: AnswerEngine,
        settings: SettingsStore,
        installed: Callable[[], Sequence[Installed] | None],
        parent: QObject | None = None,
        options_for: Callable[[Path], LoadOptions] | None = None,
        refuse: Callable[[Path, LoadOptions], VrambleError | None] = lambda _path, _options: None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._installed = installed
        self._options_for, self._refuse = options_for, refuse
        engine.model_changed.connect(self._remember)

    def choose(self) -> Choice | VrambleError:
        """What to load, or the sentence for the user: there is none, the last one is gone, or it would not fit."""
        found = self._found()
        refused = self._refuse(found.path, found.options) if isinstance(found, Choice) else None
        return found if refused is None else refused

    def _found(self) -> Choice | VrambleError:
        settings = self._settings.get(EngineSettings)
        models = self._installed()
        if settings.last_model:
            last = Path(settings.last_model)
            if models is None or any(model.path == last for model in models):
                return self.of(last)
            return _gone(last)
        usable = [model.path for model in models or () if model.can_chat]
        return self.of(usable[0]) if len(usable) == 1 else _none()

    def of(self, path: Path) -> Choice:
        """The model at ``path``, loaded as it always is."""
        if self._options_for is None:
            return Choice(path, self._settings.get(EngineSettings).load_options())
        return Choice(path, self._options_for(path))

    def _remember(self, model: ModelInfo | None) -> None:
        if model is not None:
            settings = self._settings.get(EngineSettings)
            self._settings.put(msgspec.structs.replace(settings, last_model=model.path))


def _none() -> VrambleError:
    return VrambleError("no-model", "No model is loaded.", "Choose one, then send again.")


def _gone(path: Path) -> VrambleError:
    return VrambleError(
        "model-gone", f"The model {path.stem} is no longer there.", "Choose another one, then send again.", str(path)
    )
