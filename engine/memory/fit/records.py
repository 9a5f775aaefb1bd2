"""What the forecast takes and gives. Sizes are bytes; None is unknown, never 0."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.memory.fit.fit_model import HUGE, INPUT, FitModel, LayerCache, Piece
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions

__all__ = [
    "HUGE",
    "INPUT",
    "DeviceUse",
    "FitDevice",
    "FitModel",
    "FitPlan",
    "LayerCache",
    "LearnedBytes",
    "Piece",
    "Suggestion",
    "Verdict",
]


class Verdict(StrEnum):
    """Whether a load with these options will succeed without pushing anything out of memory."""

    FITS = "fits"
    TIGHT = "tight"
    """It fits, but with less to spare than a forecast can be wrong by."""
    PARTLY = "partly"
    """Not as asked; with fewer layers on the GPU it does."""
    NO = "no"
    UNKNOWN = "unknown"
    """A figure that decides it is not known."""


class LearnedBytes(msgspec.Struct, frozen=True, kw_only=True):
    """What earlier loads on a device taught: ``share`` of the forecast and ``extra`` bytes come on top.

    ``loads`` is how many there were.
    """

    share: float = 0.0
    extra: int = 0
    loads: int = 0

    def for_total(self, total: int) -> int:
        """Bytes to add to a forecast of ``total``; never so few that nothing would be left."""
        return max(-total, round(total * self.share) + self.extra)


class FitDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device and how much of it a model may take.

    Attributes:
        info: As the worker named it.
        room: Bytes for a model, a reserve for everything else taken off (`engine.memory.room`).
        own: Of an integrated GPU's room the part that is no RAM any more (the firmware's carve-out).
        bandwidth: Bytes a second that its memory gives.
        measured: The bandwidth is what reading really reached, not what the memory could give.
        learned: What earlier loads on it taught.
        reserve: Bytes that were taken off for everything else.
    """

    info: DeviceInfo
    room: int | None = None
    own: int = 0
    bandwidth: float | None = None
    measured: bool = False
    learned: LearnedBytes | None = None
    reserve: int = 0

    @property
    def shares_ram(self) -> bool:
        """Whether what it holds is RAM: the processor, integrated GPUs, software drivers."""
        return self.info.kind is not DeviceKind.GPU


class DeviceUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a model takes on one device. The fields are those of `engine.protocol.types.MemoryUse`, and some more.

    ``image`` is the image encoder, ``draft`` the draft model, ``learned`` what ``loads`` earlier ones taught to add.
    ``reserve`` stays free beside ``room``.
    """

    device: str
    name: str
    kind: DeviceKind
    weights: int = 0
    kv: int = 0
    compute: int = 0
    output: int = 0
    image: int = 0
    draft: int = 0
    learned: int = 0
    loads: int = 0
    room: int | None = None
    reserve: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        own = self.weights + self.kv + self.compute + self.output
        return own + self.image + self.draft + self.learned


class FitPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast for one model, one set of options and one machine.

    Attributes:
        options: What was asked.
        uses: By device, the GPUs first, the processor last; only devices that take part.
        verdict: See `Verdict`.
        reason: One sentence with the numbers.
        gpu_layers: Layers on GPUs as asked, the output counted.
        max_layers: As many as there are.
        proposal: The options to load with: as asked when that fits, else with fewer layers on the GPU; None for `NO`.
        proposed_layers: Layers on GPUs in the proposal.
        room: Bytes for the model on the devices that decide (all its GPUs together, or the RAM).
        speed: Expected tokens a second for one answer; None where a bandwidth is unknown.
        exact: The compute buffers are llama.cpp's own figures.
    """

    options: LoadOptions
    uses: tuple[DeviceUse, ...]
    verdict: Verdict
    reason: str
    gpu_layers: int
    max_layers: int
    proposal: LoadOptions | None
    proposed_layers: int
    room: int | None
    speed: float | None = None
    exact: bool = False

    @property
    def deciding(self) -> tuple[DeviceUse, ...]:
        """The devices that ``room`` is about."""
        gpus = tuple(use for use in self.uses if use.kind is not DeviceKind.CPU)
        return gpus or self.uses

    @property
    def total(self) -> int:
        """Bytes on the deciding devices: what to compare with ``room``."""
        return sum(use.total for use in self.deciding)

    @property
    def learned(self) -> int:
        """Bytes of ``total`` that earlier loads taught to add."""
        return sum(use.learned for use in self.deciding)

    @property
    def loads(self) -> int:
        """How many loads taught that."""
        return max((use.loads for use in self.deciding), default=0)

    @property
    def everything(self) -> int:
        """Bytes on all devices."""
        return sum(use.total for use in self.uses)


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """One change that would make a model fit.

    Attributes:
        kind: ``kv``, ``batch``, ``context`` (where that is not enough with a smaller KV cache and micro-batch),
            ``together`` (the same with the experts in RAM), ``experts``, ``layers``, ``cpu``,
            ``image`` or ``draft``.
        text: What it does, in words that start a sentence.
        plan: The forecast for the changed options (``plan.options``), which fits.
    """

    kind: str
    text: str
    plan: FitPlan
