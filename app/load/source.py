"""What a draft of load options asks of the service that made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.load.drafts import DraftChoice
from engine.library.records import InstalledModel
from engine.loading.facts import ModelFacts
from engine.loading.profile import Profile
from engine.protocol.types import DeviceInfo, LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitPlan, Suggestion
    from engine.memory.fit.image import Encoder


class LoadSource(Protocol):
    """What a draft asks."""

    @property
    def defaults(self) -> LoadOptions:
        """The settings for all models."""

    @property
    def devices(self) -> Sequence[DeviceInfo]:
        """What the worker told; empty before it did."""

    def facts(self, path: Path) -> ModelFacts:
        """What is known of a model now."""

    def encoders(self, path: Path) -> tuple[Encoder, ...]:
        """Image encoders that lie beside the model and can belong to it."""

    def guessers(self, path: Path) -> tuple[DraftChoice, ...]:
        """Models that could guess for the one at ``path``, the smallest first."""

    def profile(self, path: Path, base: LoadOptions) -> Profile:
        """``base`` with what suits the device."""

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        """What a load would take; None while that is not known."""

    def suggest(self, path: Path, options: LoadOptions) -> tuple[Suggestion, ...]:
        """Changes with which ``options`` would fit, the one that costs least first."""

    def other_quant(self, path: Path, options: LoadOptions) -> InstalledModel | None:
        """The largest other quant of the model that is here and fits with ``options``."""

    def refine(self, path: Path, options: LoadOptions) -> bool:
        """Ask the engine what a load would allocate; False: there is nothing to wait for."""

    def is_refining(self, path: Path, options: LoadOptions) -> bool:
        """It is being asked about just these options."""

    def leave_refining(self) -> None:
        """Nobody waits for that any more."""

    def forget_learned(self) -> None:
        """Forget what earlier loads taught about all devices."""
