"""Does the request that runs still move? Pure: events and the time are handed in.

A load moves with its progress frames and with what its process reads; an answer with prompt progress and tokens.
How long a slice of a prompt may take follows from the speed that was measured, and before that from the model's size.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.client.watch import LONGEST_LOOK
from engine.protocol.frames import Delta, Finished, Load, Progress
from engine.protocol.types import DeviceKind, ModelInfo

PATIENCE = 5.0
"""A request that stands still so many times as long as is told of at first hangs."""

SLOWEST_GPU, SLOWEST_CPU = 0.5e12, 0.05e12
"""Operations a second that any machine reaches with a prompt: half a Deck's CPU, a quarter of its GPU."""

SLOWEST_MEMORY = 2e9
"""Bytes of weights a second that any machine reads for a token."""

MARGIN = 3.0
"""A slice of a prompt may take so many times as long as the measured speed says: it falls as the context fills."""


class Standing(StrEnum):
    """How a request stands."""

    MOVING = "moving"
    STILL = "still"
    HUNG = "hung"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds without movement that are worth a word; 0: never."""

    load: float = 60.0
    answer: float = 60.0


class Watchdog:
    """Watches one request after the other.

    ``look`` several times a minute; longer gaps than `LONGEST_LOOK` (a suspended computer) are not charged.
    """

    def __init__(self) -> None:
        self._limit = self._slow = 0.0
        self._quiet = 0.0
        self._looked = 0.0
        self._model: ModelInfo | None = None
        self._prefill = 0.0

    @property
    def quiet(self) -> float:
        """Seconds without movement."""
        return self._quiet

    @property
    def limit(self) -> float:
        """Seconds without movement that are worth a word now; 0: never."""
        return self._limit

    def begin(self, request: object, model: ModelInfo | None, n_batch: int, limits: Limits, now: float) -> None:
        """``request`` was sent.

        Args:
            model: The loaded one, for an answer.
            n_batch: Tokens of a prompt that are read between two progress frames.
        """
        if model is not None and model != self._model:
            self._model, self._prefill = model, 0.0
        loading = isinstance(request, Load)
        self._slow = 0.0 if loading or model is None else MARGIN * self._step(model, n_batch)
        limit = limits.load if loading else limits.answer
        self._limit = max(limit, self._slow) if limit > 0 else 0.0
        self._quiet, self._looked = 0.0, now

    def heard(self, event: Progress | Delta | Finished, now: float) -> None:
        """The request moved."""
        self._quiet, self._looked = 0.0, now
        if isinstance(event, Finished) and event.stats.prefill_tps > 0:
            self._prefill = event.stats.prefill_tps

    def stirred(self) -> None:
        """It moved, though it says nothing: the process was seen to read from a drive, or is still starting."""
        self._quiet = 0.0

    def hurry(self, seconds: float) -> None:
        """There is a reason to doubt the device: the present request gets no longer, unless it is known as slow."""
        self._limit = min(self._limit, max(seconds, self._slow))

    def look(self, now: float) -> Standing:
        """How the request stands; the time since the last look is charged."""
        self._quiet += min(max(now - self._looked, 0.0), LONGEST_LOOK)
        self._looked = now
        if self._limit <= 0 or self._quiet < self._limit:
            return Standing.MOVING
        return Standing.HUNG if self._quiet >= self._limit * PATIENCE else Standing.STILL

    def _step(self, model: ModelInfo, n_batch: int) -> float:
        return n_batch / self._prefill if self._prefill else assumed_step(model, n_batch)


def assumed_step(model: ModelInfo, n_batch: int) -> float:
    """Seconds that ``n_batch`` tokens of a prompt, or one token of an answer, take on the slowest machine.

    A token takes two operations for each weight, and reads each weight once.
    """
    on_gpu = model.device.kind in (DeviceKind.GPU, DeviceKind.IGPU) and model.gpu_layers >= model.n_layers
    speed = SLOWEST_GPU if on_gpu else SLOWEST_CPU
    return max(2 * model.n_params * n_batch / speed, model.size_bytes / SLOWEST_MEMORY)
