"""llama.cpp is asked what a load would allocate, in a process of its own that ends soon afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.load.headers import Key
from app.worker.link import Link
from engine.protocol.frames import Bench, Benched, DryRan, DryRun, Failed, FromWorker, Hello
from engine.protocol.types import LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice, FitModel, Measured

REST_MS = 5000
"""A process that has nothing to do stays so long: while sliders are moved one dry run follows the other."""

KEPT = 200
"""Dry runs that are remembered."""


class Probe(Protocol):
    """Something small to be measured in a process that has nothing else to do (`app.fit.ram_speed.RamProbe`)."""

    def wanted(self) -> bool:
        """Whether it is to be measured now."""

    def take(self, speed: float | None) -> None:
        """The speed of the RAM, bytes a second; None: it could not be measured."""


@dataclass(frozen=True)
class Wish:
    """One dry run: the file, what makes a difference of the options, and what its figures are compared with."""

    key: Key
    options: LoadOptions
    model: FitModel
    devices: tuple[FitDevice, ...]

    @property
    def path(self) -> Path:
        """The file."""
        return self.key[0]


class DryRuns(QObject):
    """One dry run at a time; a newer wish takes the place of the one before.

    Args:
        probe: Measures the RAM once no dry run is wished for; None: it is not measured.

    Attributes:
        changed: A dry run has ended, well or not.
    """

    changed = Signal()

    def __init__(self, link: Link, parent: QObject | None = None, probe: Probe | None = None) -> None:
        super().__init__(parent)
        self._link, self._probe = link, probe
        self._probing = False
        self._next: Wish | None = None
        self._running: Wish | None = None
        self._ready = self._resting = self._closed = False
        self._request = 0
        self._found: dict[tuple[Key, LoadOptions], Measured | None] = {}
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._end_process)
        link.heard.connect(self._hear)
        link.ended.connect(self._ended)

    def measured(self, key: Key, options: LoadOptions) -> Measured | None:
        """What is known for ``options``: their own dry run, else the last one of this model, which says how far
        the formula is off."""
        exact = self._found.get((key, _bare(options)))
        if exact is not None:
            return exact
        return next((found for (of, _), found in reversed(self._found.items()) if of == key and found), None)

    def is_settled(self, key: Key, options: LoadOptions) -> bool:
        """These options were tried; also when that gave nothing."""
        return (key, _bare(options)) in self._found

    def is_asked(self, key: Key, options: LoadOptions) -> bool:
        """These options are being tried, or will be."""
        asked = self._next or self._running
        return asked is not None and (asked.key, asked.options) == (key, _bare(options))

    def want(self, key: Key, options: LoadOptions, model: FitModel, devices: tuple[FitDevice, ...]) -> None:
        """Try these options next, unless that was done."""
        if self._closed or self.is_settled(key, options) or self.is_asked(key, options):
            return
        self._next = Wish(key, _bare(options), model, devices)
        self._rest.stop()
        if self._running is not None:
            self._link.cancel(self._request)
        elif self._ready and not self._probing:
            self._submit()
        elif not self._link.running:
            self._link.start({})

    def leave(self) -> None:
        """Nobody waits any more."""
        self._next = None
        if self._running is not None:
            self._link.cancel(self._request)

    def shutdown(self) -> None:
        """End the process before this returns. Only for quitting."""
        self._closed = True
        self._next = None
        self._rest.stop()
        self._link.shutdown()

    def _submit(self) -> None:
        self._running, self._next = self._next, None
        self._request += 1
        if self._running is None:
            self._probe_or_rest()
            return
        wish = self._running
        self._link.submit(DryRun(id=self._request, path=str(wish.path), options=wish.options))

    def _probe_or_rest(self) -> None:
        self._probing = self._probe is not None and self._probe.wanted()
        if self._probing:
            self._link.submit(Bench(id=self._request))
        else:
            self._rest.start()

    def _probed(self, speed: float | None) -> None:
        if self._probing and self._probe is not None:
            self._probing = False
            self._probe.take(speed)

    def _hear(self, event: FromWorker) -> None:
        if isinstance(event, Hello):
            self._ready = True
            self._submit()
        elif self._probing and isinstance(event, Benched | Failed) and event.id == self._request:
            self._probed(event.ram if isinstance(event, Benched) else None)
            self._submit()
        elif isinstance(event, DryRan | Failed) and event.id == self._request and self._running is not None:
            self._take(self._running, event)
            self._submit()
            self.changed.emit()

    def _take(self, wish: Wish, event: DryRan | Failed) -> None:
        self._running = None
        if isinstance(event, DryRan):
            from engine.memory.fit import measured_by

            self._keep(wish, measured_by(wish.model, wish.options, wish.devices, event))
        elif event.code not in ("cancelled", "stopped"):
            self._keep(wish, None)

    def _keep(self, wish: Wish, found: Measured | None) -> None:
        self._found[wish.key, wish.options] = found
        while len(self._found) > KEPT:
            self._found.pop(next(iter(self._found)))

    def _ended(self, _death: object, verdict: object, _failures: object) -> None:
        """What llama.cpp aborts on is not tried again; another process goes on with what is wanted meanwhile."""
        wish, self._running, self._ready = self._running, None, False
        self._probed(None)
        rested, self._resting = self._resting, False
        if wish is not None and self._next is None and verdict is None:
            self._keep(wish, None)
        if wish is None and not rested and self._next is not None:  # no process comes to its first word
            self._keep(self._next, None)
            self._next = None
        if self._next is not None and not self._closed:
            self._link.start({})
        self.changed.emit()

    def _end_process(self) -> None:
        self._ready, self._resting = False, True
        self._link.stop()


def _bare(options: LoadOptions) -> LoadOptions:
    from engine.memory.fit.measured import buffer_options

    return buffer_options(options)
