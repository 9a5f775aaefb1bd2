"""Python's cyclic garbage collector, kept to the GUI thread.

The collector runs in whatever thread happens to allocate. When that is a background one and the garbage holds Qt
objects, these are destroyed off their thread, which Qt does not allow: now and then the process crashes. So automatic
collection is off while the window lives, and a timer collects in its place.

After a collection of everything, but not again within five minutes, the C library gives the holes of its heap back to
the system: after long answers these are up to 18 MiB, which a model can use. That takes 2 ms, and 30 on a heap that is
all holes.
"""

from __future__ import annotations

import ctypes
import gc
import math
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 500
GIVE_BACK_SECONDS = 300.0


class GuiThreadCollector(QObject):
    """Collects by the interpreter's own thresholds, looked at twice a second, on the thread it is made in."""

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock, self._next = clock, -math.inf
        self._was_enabled = gc.isenabled()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """Take over. What exists now stays for the life of the program, so it is not looked through again."""
        self._was_enabled = gc.isenabled()
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Leave it to the interpreter again."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()

    def look(self) -> None:
        """Collect the oldest generation that is due, and with it the younger ones."""
        counts, limits = gc.get_count(), gc.get_threshold()
        due = [number for number in (0, 1, 2) if counts[number] > limits[number] > 0]
        if due:
            gc.collect(due[-1])
        if due[-1:] == [2] and self._clock() >= self._next:
            self._next = self._clock() + GIVE_BACK_SECONDS
            give_back()


def give_back() -> None:
    """Return unused memory of the C library's heap to the system, where the library can do that (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
