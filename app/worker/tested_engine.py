"""What self-tests need of the worker service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import SignalInstance

from app.worker.safe_mode import SafeMode
from engine.client.session import WorkerState
from engine.protocol.frames import Failed, Hello, SelfTested
from engine.protocol.types import LoadOptions, ModelInfo


class TestedEngine(Protocol):
    """Loads models, and tests the loaded one."""

    @property
    def hello(self) -> Hello | None:
        """Its backends."""

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""

    @property
    def state(self) -> WorkerState:
        """Whether it is in use."""

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What was loaded last, as the user asked."""

    @property
    def safe_mode(self) -> SafeMode | None:
        """Offers safer settings."""

    @property
    def model_changed(self) -> SignalInstance:
        """Emits `ModelInfo` or None."""

    @property
    def state_changed(self) -> SignalInstance:
        """Emits `WorkerState`."""

    def self_test(self, done: Callable[[SelfTested | Failed], None]) -> int:
        """Read off what the loaded model computes."""
