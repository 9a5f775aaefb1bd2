"""Load, clocks, power and temperatures of a card, read only when that neither wakes it nor keeps it awake."""

from __future__ import annotations

import re
from collections.abc import Callable

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

LAYOUT_S = 60.0
"""Which sensor files there are is looked up so often: a card that was reset gets new ones."""

PLACES = {"edge": "temperature_c", "junction": "junction_c", "mem": "memory_c"}
UNLABELLED = ("edge", "junction", "mem")
"""What temp1 to temp3 are on kernels that do not label them."""

_TEMPERATURE = re.compile(r"temp([1-9])_input")


class Sensors(msgspec.Struct, frozen=True, kw_only=True):
    """Live figures of one card, called as in `GpuMemory`."""

    busy_percent: int | None = None
    memory_busy_percent: int | None = None
    core_mhz: int | None = None
    memory_mhz: int | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    temperature_c: float | None = None
    junction_c: float | None = None
    memory_c: float | None = None
    fan_rpm: int | None = None


NOTHING = Sensors()

READERS: dict[str, Callable[[str | None], int | float | None]] = {
    "busy_percent": values.percent,
    "memory_busy_percent": values.percent,
    "core_mhz": values.megahertz,
    "memory_mhz": values.megahertz,
    "power_w": values.watts,
    "power_cap_w": values.watts,
    "temperature_c": values.celsius,
    "junction_c": values.celsius,
    "memory_c": values.celsius,
    "fan_rpm": values.rpm,
}


class Source(msgspec.Struct, frozen=True):
    """A file that holds a quantity, how to read it, and what stands in for it."""

    path: str
    read: Callable[[str | None], int | float | None]
    instead: str | None = None


class SensorReader:
    """Sensors of all cards, with the care that runtime power management asks for.

    On older kernels each read restarts the countdown to sleep, so an idle card that may sleep, and that no
    model uses, is looked at less often than its countdown is long.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._last: dict[str, tuple[float, Sensors]] = {}
        self._layouts: dict[str, tuple[float, dict[str, Source]]] = {}

    def asleep(self, card: Card) -> bool | None:
        """Whether the card is switched off; None when the kernel does not say. Never wakes it."""
        path = f"{card.path}/power/runtime_status"
        if not self._tree.exists(path):
            return False
        status = values.stripped(self._tree.live(path))
        if status in AWAKE:
            return False
        return True if status in ASLEEP else None

    def read(self, card: Card, *, asleep: bool | None, in_use: bool, now: float) -> Sensors:
        """The figures at ``now`` (seconds); nothing unless the card is known to be awake."""
        if asleep is not False:
            self._forget(card)
            return NOTHING
        read_at, last = self._last.get(card.pci, (0.0, NOTHING))
        if card.pci in self._last and not in_use and not last.busy_percent and now - read_at < self._rest(card):
            return last
        sensors = self._measure(card, now)
        self._last[card.pci] = (now, sensors)
        return sensors

    def _forget(self, card: Card) -> None:
        """Nothing of a sleeping card is kept, not even an open file."""
        self._last.pop(card.pci, None)
        _, sources = self._layouts.pop(card.path, (0.0, {}))
        for source in sources.values():
            self._tree.release(source.path)

    def _rest(self, card: Card) -> float:
        if values.stripped(self._tree.passing(f"{card.path}/power/control")) != "auto":
            return 0.0
        delay = values.whole(self._tree.passing(f"{card.path}/power/autosuspend_delay_ms"))
        return 2.0 + 2 * (delay if delay is not None and 0 <= delay <= 60_000 else AUTOSUSPEND_MS) / 1000

    def _measure(self, card: Card, now: float) -> Sensors:
        found_at, sources = self._layouts.get(card.path, (0.0, {}))
        if not sources or now - found_at >= LAYOUT_S:
            sources = self._find(card)
            self._layouts[card.path] = (now, sources)
        return Sensors(**{name: self._value(source) for name, source in sources.items()})  # type: ignore[arg-type]

    def _value(self, source: Source) -> int | float | None:
        value = source.read(self._tree.live(source.path))
        return source.read(self._tree.text(source.instead)) if value is None and source.instead else value

    def _find(self, card: Card) -> dict[str, Source]:
        """Which files this card has for what."""
        files = {"busy_percent": f"{card.path}/gpu_busy_percent"}
        if card.device in STUCK_BUSY:
            del files["busy_percent"]
        if self._tree.exists(f"{card.path}/mem_busy_percent"):
            files["memory_busy_percent"] = f"{card.path}/mem_busy_percent"
        sources = {name: Source(path, READERS[name]) for name, path in files.items()}
        sources.update(self._hwmon(f"{card.path}/hwmon"))
        if "memory_mhz" not in sources and self._tree.exists(f"{card.path}/pp_dpm_mclk"):
            sources["memory_mhz"] = Source(f"{card.path}/pp_dpm_mclk", values.dpm_clock)
        return sources

    def _hwmon(self, parent: str) -> dict[str, Source]:
        folders = [f"{parent}/{name}" for name in self._tree.names(parent) if name.startswith("hwmon")]
        named = [folder for folder in folders if values.stripped(self._tree.passing(f"{folder}/name")) == "amdgpu"]
        if not folders:
            return {}
        folder = (named or folders)[0]
        names = self._tree.names(folder)
        files = {"core_mhz": "freq1_input", "memory_mhz": "freq2_input", "fan_rpm": "fan1_input"}
        files["power_cap_w"] = "power1_cap"
        for name in names:
            match = _TEMPERATURE.fullmatch(name)
            place = self._place(folder, int(match[1])) if match else None
            if place in PLACES:
                files.setdefault(PLACES[place], name)
        found = {key: Source(f"{folder}/{name}", READERS[key]) for key, name in files.items() if name in names}
        power = [name for name in ("power1_average", "power1_input") if name in names]
        if power:
            spare = f"{folder}/{power[1]}" if len(power) > 1 else None
            found["power_w"] = Source(f"{folder}/{power[0]}", values.watts, spare)
        return found

    def _place(self, folder: str, number: int) -> str | None:
        label = values.stripped(self._tree.passing(f"{folder}/temp{number}_label"))
        if label in PLACES or number > len(UNLABELLED):
            return label
        return UNLABELLED[number - 1]
