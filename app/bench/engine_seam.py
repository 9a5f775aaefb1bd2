"""What benchmarks need of other features."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import SignalInstance

from engine.client.states import WorkerState
from engine.protocol.types import LoadOptions, ModelInfo


class BenchedEngine(Protocol):
    """The chat's worker (`app.worker.service.WorkerService`)."""

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""

    @property
    def state(self) -> WorkerState:
        """What it does."""

    @property
    def idle(self) -> bool:
        """Nothing was asked for that has not ended yet."""

    @property
    def state_changed(self) -> SignalInstance:
        """Emits `WorkerState`."""

    def unload(self) -> None:
        """Give the memory of the model back."""


class Remembered(Protocol):
    """`app.load.remembered.RememberedOptions`."""

    def remember(self, path: Path, options: LoadOptions) -> None:
        """Load ``path`` like this from now on."""


class Options(Protocol):
    """`app.load.service.LoadService`."""

    @property
    def remembered(self) -> Remembered:
        """Options that were chosen for single models."""

    def options_for(self, path: Path) -> LoadOptions:
        """How a model is loaded."""
