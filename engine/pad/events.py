"""The kernel's input events of a gamepad, and what presses they are."""

from __future__ import annotations

import struct
from collections.abc import Iterator

FORMAT = struct.Struct("@llHHi")
"""``struct input_event`` (linux/input.h): seconds, microseconds, type, code, value."""

EV_SYN, EV_KEY, EV_ABS = 0x00, 0x01, 0x03
SYN_DROPPED = 3
"""Events were lost: nobody read them in time (Documentation/input/event-codes.rst)."""

ABS_X, ABS_Y, ABS_HAT0X, ABS_HAT0Y = 0x00, 0x01, 0x10, 0x11
STICK = (-32768, 32767)
"""Range of a stick that does not tell its own."""

BUTTONS = {
    0x130: "a",
    0x131: "b",
    0x133: "x",
    0x134: "y",
    0x136: "l1",
    0x137: "r1",
    0x13B: "menu",
    0x220: "up",
    0x221: "down",
    0x222: "left",
    0x223: "right",
}
"""Codes of linux/input-event-codes.h under the names of the xpad driver, which Steam's pad has too."""

AXES = {ABS_X: ("left", "right"), ABS_Y: ("up", "down"), ABS_HAT0X: ("left", "right"), ABS_HAT0Y: ("up", "down")}
DIRECTIONS = frozenset({"up", "down", "left", "right"})
PUSHED, RELEASED = 0.6, 0.4
"""Shares of the way at which a stick counts as pushed, and as let go again: two, so that it does not tremble."""


class Presses:
    """Turns the events of one pad into presses.

    Args:
        ranges: Smallest and largest value of axes that tell it.

    Attributes:
        held: The direction that is held down, which repeats; "" none.
    """

    def __init__(self, ranges: dict[int, tuple[int, int]] | None = None) -> None:
        self._ranges = ranges or {}
        self._rest = b""
        self._pushed: dict[int, str] = {}
        self.held = ""

    def feed(self, data: bytes) -> Iterator[str]:
        """Names of what was pressed, in order; parts of an event wait for the rest of it."""
        self._rest += data
        whole = len(self._rest) - len(self._rest) % FORMAT.size
        events, self._rest = self._rest[:whole], self._rest[whole:]
        for _seconds, _micros, kind, code, value in FORMAT.iter_unpack(events):
            if kind == EV_SYN and code == SYN_DROPPED:
                self._pushed, self.held = {}, ""  # the release may be among them, and would never end the repeats
            name = self._key(code, value) if kind == EV_KEY else self._axis(code, value) if kind == EV_ABS else ""
            if name:
                yield name

    def _key(self, code: int, value: int) -> str:
        name = BUTTONS.get(code, "")
        if name in DIRECTIONS:
            return self._direct(code, name if value else "")
        return name if value == 1 else ""

    def _axis(self, code: int, value: int) -> str:
        if code not in AXES:
            return ""
        share = self._share(code, value)
        before = self._pushed.get(code, "")
        if abs(share) < (RELEASED if before else PUSHED):
            return self._direct(code, "")
        return self._direct(code, AXES[code][share > 0])

    def _share(self, code: int, value: int) -> float:
        low, high = (-1, 1) if code in (ABS_HAT0X, ABS_HAT0Y) else self._ranges.get(code, STICK)
        return (2 * value - low - high) / (high - low) if high > low else 0.0

    def _direct(self, code: int, name: str) -> str:
        before = self._pushed.pop(code, "")
        if name:
            self._pushed[code] = name
        self.held = next(iter(self._pushed.values()), "")
        return name if name != before else ""
