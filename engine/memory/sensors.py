"""Load, power and temperature of a card, read only when that neither wakes it nor keeps it awake."""

from __future__ import annotations

import msgspec

from engine.memory import values
from engine.memory.cards import Card
from engine.memory.tree import Tree

AWAKE = {"active", "unsupported"}
ASLEEP = {"suspended", "suspending", "resuming"}

STUCK_BUSY = {0x15DD, 0x15D8, 0x13FE}
"""Raven, Picasso and BC-250 report a load of 100 % at all times."""

AUTOSUSPEND_MS = 5000
"""What the kernel waits before it switches an idle card off, where the card does not say."""


class Sensors(msgspec.Struct, frozen=True, kw_only=True):
    """Live figures of one card."""

    busy_percent: int | None = None
    power_w: float | None = None
    temperature_c: float | None = None


NOTHING = Sensors()


class SensorReader:
    """Sensors of all cards, with the care that runtime power management asks for.

    On older kernels each read restarts the countdown to sleep, so an idle card that may sleep, and that no
    model uses, is looked at less often than its countdown is long.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._last: dict[str, tuple[float, Sensors]] = {}

    def asleep(self, card: Card) -> bool | None:
        """Whether the card is switched off; None when the kernel does not say. Never wakes it."""
        path = f"{card.path}/power/runtime_status"
        if not self._tree.exists(path):
            return False
        status = values.stripped(self._tree.text(path))
        if status in AWAKE:
            return False
        return True if status in ASLEEP else None

    def read(self, card: Card, *, asleep: bool | None, in_use: bool, now: float) -> Sensors:
        """The figures at ``now`` (seconds); nothing unless the card is known to be awake."""
        if asleep is not False:
            self._last.pop(card.pci, None)
            return NOTHING
        read_at, last = self._last.get(card.pci, (0.0, NOTHING))
        if card.pci in self._last and not in_use and not last.busy_percent and now - read_at < self._rest(card):
            return last
        sensors = self._measure(card)
        self._last[card.pci] = (now, sensors)
        return sensors

    def _rest(self, card: Card) -> float:
        if values.stripped(self._tree.passing(f"{card.path}/power/control")) != "auto":
            return 0.0
        delay = values.whole(self._tree.passing(f"{card.path}/power/autosuspend_delay_ms"))
        return 2.0 + 2 * (delay if delay is not None and 0 <= delay <= 60_000 else AUTOSUSPEND_MS) / 1000

    def _measure(self, card: Card) -> Sensors:
        busy = values.percent(self._tree.text(f"{card.path}/gpu_busy_percent"))
        folders = [name for name in self._tree.names(f"{card.path}/hwmon") if name.startswith("hwmon")]
        if card.device in STUCK_BUSY:
            busy = None
        if not folders:
            return Sensors(busy_percent=busy)
        hwmon = f"{card.path}/hwmon/{folders[0]}"
        power = values.watts(self._tree.text(f"{hwmon}/power1_average"))
        if power is None:
            power = values.watts(self._tree.text(f"{hwmon}/power1_input"))
        return Sensors(
            busy_percent=busy,
            power_w=power,
            temperature_c=values.celsius(self._tree.text(f"{hwmon}/temp1_input")),
        )
