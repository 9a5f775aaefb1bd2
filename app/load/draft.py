"""The load options that are being chosen for one model: changes, resets, what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.load.draft_checks import needs_flash, problems_of
from app.load.drafts import DraftChoice
from app.load.source import LoadSource
from engine.library.records import InstalledModel
from engine.loading.check import Problem
from engine.loading.facts import ModelFacts
from engine.loading.profile import CPU, Profile, device_to_expect
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitPlan, Suggestion
    from engine.memory.fit.image import Encoder

KEPT_FIELDS = (
    *("device", "devices", "shares", "split", "lora", "mmproj"),
    *("draft", "draft_gpu_layers", "ngram", "n_draft", "n_draft_min", "draft_p_min"),
)
"""What a recommendation does not change."""


class LoadDraft(QObject):
    """Options on their way to a load.

    Attributes:
        changed: Options, facts, devices or problems are others.
        measured: The forecast may be another: a dry run has ended.
        path: The model file.
        name: What the model is called.
        defaults: What resetting goes back to: the settings for all models.

    Args:
        recommended: The profile that ``options`` come of, if they do.
    """

    changed = Signal()
    measured = Signal()

    def __init__(
        self,
        path: Path,
        name: str,
        options: LoadOptions,
        source: LoadSource,
        recommended: Profile | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.path, self.name, self.defaults = path, name, source.defaults
        self._options = options
        self._source = source
        self._facts = source.facts(path)
        self._devices = tuple(source.devices)
        self._encoders = source.encoders(path)
        self._unreadable: dict[str, str] = {}
        self._flash_followed = False
        self._recommended = recommended
        self._made_to_fit: Suggestion | None = None
        self._problems: tuple[Problem, ...] | None = None

    @property
    def options(self) -> LoadOptions:
        """As chosen until now."""
        return self._options

    @property
    def facts(self) -> ModelFacts:
        """What is known of the model; little before its header was read."""
        return self._facts

    @property
    def devices(self) -> tuple[DeviceInfo, ...]:
        """What the worker told; empty before it did."""
        return self._devices

    @property
    def encoders(self) -> tuple[Encoder, ...]:
        """Image encoders that can be loaded with the model."""
        return self._encoders

    @property
    def guessers(self) -> tuple[DraftChoice, ...]:
        """Models that could guess ahead for this one."""
        return self._source.guessers(self.path)

    @property
    def on_cpu(self) -> bool:
        """The model would run on the CPU, however many layers were given to a GPU."""
        wanted = self._options.devices[0] if self._options.devices else self._options.device
        if wanted is not None and wanted.lower() == CPU:
            return True
        device = device_to_expect(self._devices, wanted)
        return device is not None and device.kind is DeviceKind.CPU

    @property
    def flash_followed(self) -> bool:
        """Flash attention was taken from off to automatic, because a quantised KV cache needs it."""
        return self._flash_followed

    @property
    def recommended(self) -> Profile | None:
        """What was chosen because it suits the device, until something is changed."""
        return self._recommended

    @property
    def made_to_fit(self) -> Suggestion | None:
        """What `recommend` changed beyond the profile, so that it fits."""
        return self._made_to_fit

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What keeps these options from being loaded; texts that are no numbers come first."""
        if self._problems is None:
            self._problems = tuple(self._find_problems())
        return self._problems

    def forecast(self) -> FitPlan | None:
        """What a load with these options would take; None while model or devices are not known."""
        return self._source.forecast(self.path, self._options)

    def forecast_with(self, **values: Any) -> FitPlan | None:
        """`forecast` for these options with other values for some fields."""
        return self._source.forecast(self.path, msgspec.structs.replace(self._options, **values))

    def suggestions(self) -> tuple[Suggestion, ...]:
        """Changes with which these options would fit, the one that costs least first; only those that can be loaded."""
        if self.problems:
            return ()
        found = self._source.suggest(self.path, self._options)
        return tuple(suggestion for suggestion in found if not problems_of(suggestion.plan.options, self._facts))

    def other_quant(self) -> InstalledModel | None:
        """Another quant of the model that is here and fits with these options."""
        return None if self.problems else self._source.other_quant(self.path, self._options)

    def refine(self) -> None:
        """Ask the engine what a load with these options would allocate. `measured` follows, unless it is known."""
        if not self.problems:
            self._source.refine(self.path, self._options)

    @property
    def refining(self) -> bool:
        """The engine is being asked about these very options."""
        return self._source.is_refining(self.path, self._options)

    def forget_learned(self) -> None:
        """Forget what earlier loads taught about all devices."""
        self._source.forget_learned()

    def leave(self) -> None:
        """Nobody looks at this draft any more."""
        self._source.leave_refining()

    def refresh(self) -> None:
        """Ask again what is known of model and devices."""
        known = self._source.facts(self.path), tuple(self._source.devices), self._source.encoders(self.path)
        if known[0] is not self._facts or known[1:] != (self._devices, self._encoders):
            self._facts, self._devices, self._encoders = known
            self._tell()

    def is_changed(self, *fields: str) -> bool:
        """Whether one of ``fields`` is not as in the defaults."""
        return any(getattr(self._options, name) != getattr(self.defaults, name) for name in fields)

    def change(self, **values: Any) -> None:
        """Take other values for fields of `LoadOptions`."""
        options = msgspec.structs.replace(self._options, **values)
        self._flash_followed = "flash_attention" not in values and (
            self._flash_followed or needs_flash(self._options, options)
        )
        if needs_flash(self._options, options) and "flash_attention" not in values:
            options = msgspec.structs.replace(options, flash_attention=FlashAttention.AUTO)
        for name in values:
            self._unreadable.pop(name, None)
        self._set(options)

    def set_unreadable(self, field: str, sentence: str) -> None:
        """What was typed for ``field`` is no value; the old one stays, and nothing can be loaded until it is one."""
        if self._unreadable.get(field) != sentence:
            self._unreadable[field] = sentence
            self._tell()

    def reset(self, *fields: str) -> None:
        """Go back to the defaults in ``fields``."""
        self.change(**{name: getattr(self.defaults, name) for name in fields})

    def reset_all(self) -> None:
        """Go back to the defaults in everything."""
        self.take(self.defaults)

    def recommend(self) -> None:
        """Take what suits the device and the model; the choice of devices and of files beside the model stays.

        Where that would not fit, the change that costs least is made as well.
        """
        kept = {name: getattr(self._options, name) for name in KEPT_FIELDS}
        profile = self._source.profile(self.path, msgspec.structs.replace(self.defaults, **kept))
        self._unreadable.clear()
        self._options = profile.options
        self._problems = None
        made_to_fit = next(iter(self.suggestions()), None)
        options = profile.options if made_to_fit is None else made_to_fit.plan.options
        self.take(options, profile, made_to_fit)

    def take(
        self, options: LoadOptions, recommended: Profile | None = None, made_to_fit: Suggestion | None = None
    ) -> None:
        """Go on with ``options``, which may come of a profile, and of a change that made them fit."""
        self._unreadable.clear()
        self._flash_followed = False
        self._set(options, recommended, made_to_fit)

    def _set(
        self, options: LoadOptions, recommended: Profile | None = None, made_to_fit: Suggestion | None = None
    ) -> None:
        self._options = options
        self._recommended = recommended
        self._made_to_fit = made_to_fit
        self._tell()

    def _tell(self) -> None:
        self._problems = None
        self.changed.emit()

    def _find_problems(self) -> Iterator[Problem]:
        for field, sentence in self._unreadable.items():
            yield Problem(sentence, "", field)
        yield from problems_of(self._options, self._facts)
