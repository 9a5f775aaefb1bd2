"""Reads all gamepads until its input ends: lines ``pads N`` and ``press NAME``."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import select
import struct
import time
from collections.abc import Callable
from pathlib import Path

from engine.memory.tree import Tree
from engine.pad.events import ABS_X, ABS_Y, FORMAT, Presses
from engine.pad.finding import PadDevice, find_pads

log = logging.getLogger(__name__)

LOOK_S = 2.0
"""Between two looks for pads that come and go."""
HOLD_S, REPEAT_S = 0.4, 0.11
"""A direction that is held repeats after the one, then each time after the other."""

EVIOCGABS = 0x80184540
"""linux/input.h: the ioctl that tells the range of axis 0; axes follow one by one."""
ABSINFO = struct.Struct("@6i")


class Reader:
    """Open pads.

    Args:
        root: Folder with ``sys`` and ``dev``.
        tell: Gets each line.
        clock: Seconds, monotonic.
    """

    def __init__(self, root: Path, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tree, self._root, self._tell, self._clock = Tree(root), root, tell, clock
        self._open: dict[str, int] = {}
        self._presses: dict[int, Presses] = {}
        self._told = -1
        self._look_at = self._repeat_at = 0.0
        self._held = ""

    @property
    def handles(self) -> list[int]:
        """What to wait for."""
        return list(self._presses)

    def wait_s(self) -> float:
        """How long nothing but an event is expected."""
        until = min(self._look_at, self._repeat_at) if self._held else self._look_at
        return max(0.0, until - self._clock())

    def look(self) -> None:
        """Open pads that came, when it is time."""
        if self._clock() < self._look_at:
            return
        self._look_at = self._clock() + LOOK_S
        pads = find_pads(self._tree)
        wanted = {pad.event for pad in pads}
        for event in [event for event in self._open if event not in wanted]:
            self._close(event)
        for pad in pads:
            if pad.event not in self._open:
                self._take(pad)
        self._tell_number()

    def read(self, handle: int) -> None:
        """Tell what was pressed on the pad with this handle; one that cannot be read is let go until the next look."""
        try:
            data = os.read(handle, FORMAT.size * 64)
        except BlockingIOError:
            return
        except OSError as error:
            log.info("a pad is gone: %s", error)
            data = b""
        if not data:
            self._close(next(event for event, one in self._open.items() if one == handle))
            self._tell_number()
            return
        for name in self._presses[handle].feed(data):
            self._tell(f"press {name}")
        self._hold()

    def repeat(self) -> None:
        """A direction that is held is pressed again, when it is time."""
        if self._held and self._clock() >= self._repeat_at:
            self._repeat_at = self._clock() + REPEAT_S
            self._tell(f"press {self._held}")

    def close(self) -> None:
        """Let go of all pads."""
        for event in list(self._open):
            self._close(event)

    def _tell_number(self) -> None:
        if len(self._open) != self._told:
            self._told = len(self._open)
            self._tell(f"pads {self._told}")

    def _hold(self) -> None:
        held = next((one.held for one in self._presses.values() if one.held), "")
        if held != self._held:
            self._held, self._repeat_at = held, self._clock() + HOLD_S

    def _take(self, pad: PadDevice) -> None:
        try:
            handle = os.open(self._root / "dev/input" / pad.event, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENXIO):
                log.info("%s cannot be read: %s", pad.event, error)
            return
        self._open[pad.event] = handle
        self._presses[handle] = Presses({axis: found for axis in (ABS_X, ABS_Y) if (found := _range(handle, axis))})

    def _close(self, event: str) -> None:
        handle = self._open.pop(event)
        del self._presses[handle]
        os.close(handle)
        self._hold()


def _range(handle: int, axis: int) -> tuple[int, int] | None:
    try:
        _value, low, high, *_rest = ABSINFO.unpack(fcntl.ioctl(handle, EVIOCGABS + axis, bytes(ABSINFO.size)))
    except OSError:
        return None
    return (low, high) if high > low else None


def run(reader: Reader, end: int) -> None:
    """Read until the file with the handle ``end`` has ended."""
    while True:
        reader.look()
        reader.repeat()
        ready, _, _ = select.select([end, *reader.handles], [], [], reader.wait_s())
        if end in ready and not os.read(end, 4096):
            reader.close()
            return
        for handle in ready:
            if handle in reader.handles:
                reader.read(handle)
