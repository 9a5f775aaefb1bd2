"""The machine's batteries. Some answer slowly, so they are not asked every second."""

from __future__ import annotations

import msgspec

from engine.memory import values
from engine.memory.records import Battery
from engine.memory.tree import Tree

SUPPLIES = "sys/class/power_supply"
ASKED_EVERY_S = 10.0
MICRO = 1_000_000
_FLOWS = {"discharging": True, "charging": False, "full": False, "not charging": False}


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One battery; ``energy_full`` in microwatt-hours weighs it against the others."""

    percent: int | None = None
    status: str | None = None
    watts: float | None = None
    energy_full: int | None = None


def together(cells: list[Cell]) -> Battery | None:
    """All batteries of the machine as one; None without any.

    It discharges when one of them does, because several are emptied one after the other.
    """
    if not cells:
        return None
    flows = [_FLOWS.get((cell.status or "").lower()) for cell in cells]
    known = [flow for flow in flows if flow is not None]
    watts = [cell.watts for cell in cells if cell.watts is not None]
    return Battery(
        percent=_percent(cells),
        discharging=any(known) if known else None,
        watts=sum(watts) if watts else None,
    )


def _percent(cells: list[Cell]) -> int | None:
    told = [(cell.percent, cell.energy_full) for cell in cells if cell.percent is not None]
    if not told:
        return None
    weighed = [(percent, full) for percent, full in told if full]
    if len(weighed) == len(told):
        return round(sum(percent * full for percent, full in weighed) / sum(full for _, full in weighed))
    return round(sum(percent for percent, _ in told) / len(told))


class BatteryReader:
    """Keeps the last answer for `ASKED_EVERY_S`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._asked: float | None = None
        self._last: Battery | None = None

    def read(self, now: float) -> Battery | None:
        """What is known at ``now`` (seconds, monotonic)."""
        if self._asked is None or not 0 <= now - self._asked < ASKED_EVERY_S:
            self._asked = now
            folders = [f"{SUPPLIES}/{name}" for name in self._tree.names(SUPPLIES)]
            self._last = together([self._cell(folder) for folder in folders if self._feeds_us(folder)])
        return self._last

    def _feeds_us(self, folder: str) -> bool:
        """Not the battery of a mouse or a pad, which has the scope ``Device``."""
        kind = values.stripped(self._tree.text(f"{folder}/type"))
        scope = values.stripped(self._tree.passing(f"{folder}/scope"))
        present = values.stripped(self._tree.passing(f"{folder}/present"))
        return kind == "Battery" and scope != "Device" and present != "0"

    def _cell(self, folder: str) -> Cell:
        watts = _flow(self._tree.passing(f"{folder}/power_now"))
        if watts is None:
            current, voltage = (_flow(self._tree.passing(f"{folder}/{name}_now")) for name in ("current", "voltage"))
            watts = None if current is None or voltage is None else current * voltage
        return Cell(
            percent=values.percent(self._tree.text(f"{folder}/capacity")),
            status=values.stripped(self._tree.text(f"{folder}/status")),
            watts=watts if watts is None or watts < 1000 else None,
            energy_full=values.byte_count(self._tree.passing(f"{folder}/energy_full")),
        )


def _flow(text: str | None) -> float | None:
    """A quantity in millionths; some drivers count what flows out below zero."""
    value = values.whole(text)
    return abs(value) / MICRO if value is not None and abs(value) < 1000 * MICRO else None
