"""Need against room: on each GPU, and in the RAM that everything shares which is no memory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.fit.placement import Layout
from engine.memory.fit.records import DeviceUse, Verdict

RAM: Final = "the RAM"

_LEAST_SPARE: Final = 96 << 20
_SPARE_SHARE: Final = 0.03
"""What a forecast may be wrong by: less to spare than this is tight."""


@dataclass(frozen=True)
class Balance:
    """One memory. ``room`` None: not known."""

    place: str
    need: int
    room: int | None

    @property
    def spare(self) -> int | None:
        """What is left; negative where it is not enough."""
        return None if self.room is None else self.room - self.need

    @property
    def fails(self) -> bool:
        """It is surely not enough."""
        return self.spare is not None and self.spare < 0

    @property
    def verdict(self) -> Verdict:
        """For this memory alone."""
        if self.spare is None:
            return Verdict.UNKNOWN
        if self.fails:
            return Verdict.NO
        return Verdict.TIGHT if self.spare < max(_LEAST_SPARE, self.need * _SPARE_SHARE) else Verdict.FITS


def gpu_balances(uses: Sequence[DeviceUse]) -> list[Balance]:
    """One for each GPU of a plan, whose last use is the processor's."""
    return [Balance(use.name, use.total, use.room) for use in uses[:-1]]


def ram_balance(uses: Sequence[DeviceUse], layout: Layout) -> Balance:
    """What lies in RAM, whoever holds it: the processor, an integrated GPU beyond its carve-out, a software driver."""
    pairs = zip(uses, layout.devices, strict=True)
    need = sum(max(0, use.total - device.own) for use, device in pairs if device.shares_ram)
    return Balance(RAM, need, layout.devices[-1].room)


def closest(uses: Sequence[DeviceUse], layout: Layout) -> Balance:
    """The memory that decides: one that surely fails, else one that is unknown, else the one with least to spare."""
    balances = [*gpu_balances(uses), ram_balance(uses, layout)]
    failing = [balance for balance in balances if balance.fails]
    unknown = [balance for balance in balances if balance.spare is None]
    if unknown and not failing:
        return unknown[0]
    return min(failing or balances, key=lambda balance: balance.spare or 0)
