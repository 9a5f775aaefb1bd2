"""Before a load that nobody chose the options of: does it fit, and if not, what would?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, SignalInstance

from engine.protocol.types import LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitPlan

LIMIT_MS = 8000
"""What is not known by then is left to the load itself."""

MOST_TRIES = 4
"""Dry runs: of what was asked, and of proposals."""


class Forecasts(Protocol):
    """`app.load.service.LoadService`."""

    @property
    def known(self) -> SignalInstance:
        """A header was read."""

    @property
    def measured(self) -> SignalInstance:
        """A dry run has ended."""

    def read_header(self, path: Path) -> bool:
        """Whether it was read; else it will be."""

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        """What a load would take."""

    def refine(self, path: Path, options: LoadOptions) -> bool:
        """Whether a dry run is to be waited for."""

    def is_refining(self, path: Path, options: LoadOptions) -> bool:
        """It has not ended."""


class Preparation(QObject):
    """Asks the header, then the engine, until it is known what fits.

    Args:
        done: Called once, perhaps before `begin` returns: with None when the load can go on as asked, or nothing is
            known against it; else with the forecast, whose proposal has been checked by a dry run.
    """

    def __init__(
        self,
        forecasts: Forecasts,
        path: Path,
        options: LoadOptions,
        done: Callable[[FitPlan | None], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._forecasts, self._path, self._asked, self._done = forecasts, path, options, done
        self._tried: list[LoadOptions] = []
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.setInterval(LIMIT_MS)
        self._limit.timeout.connect(self._give_up)

    def begin(self) -> None:
        """Look at what is known, and wait for what is not."""
        self._forecasts.known.connect(self._look)
        self._forecasts.measured.connect(self._look)
        self._limit.start()
        self._look()

    @property
    def waiting(self) -> bool:
        """``done`` is still to be called."""
        return self._limit.isActive()

    def cancel(self) -> None:
        """Want no answer any more."""
        if self._limit.isActive():
            self._close()

    def _look(self) -> None:
        if not self._limit.isActive() or not self._forecasts.read_header(self._path):
            return
        plan = self._forecasts.forecast(self._path, self._asked)
        if not _fails(plan):
            self._end(None)
            return
        assert plan is not None
        if self._waits_for(self._asked):
            return
        proposal = plan.proposal
        while proposal is not None:
            if self._waits_for(proposal):
                return
            checked = self._forecasts.forecast(self._path, proposal)
            if not _fails(checked):
                break
            proposal = None if checked is None or len(self._tried) >= MOST_TRIES else checked.proposal
        self._end(with_proposal(plan, proposal))

    def _waits_for(self, options: LoadOptions) -> bool:
        """Whether a dry run of ``options`` is on its way; it is begun where that was not done."""
        if self._forecasts.is_refining(self._path, options):
            return True
        if options in self._tried:
            return False
        self._tried.append(options)
        return self._forecasts.refine(self._path, options)

    def _give_up(self) -> None:
        self._limit.start()
        plan = self._forecasts.forecast(self._path, self._asked)
        self._end(plan if _fails(plan) else None)

    def _end(self, plan: FitPlan | None) -> None:
        self._close()
        self._done(plan)

    def _close(self) -> None:
        self._limit.stop()
        self._forecasts.known.disconnect(self._look)
        self._forecasts.measured.disconnect(self._look)


def _fails(plan: FitPlan | None) -> bool:
    from engine.memory.fit.records import Verdict

    return plan is not None and plan.verdict in (Verdict.NO, Verdict.PARTLY)


def with_proposal(plan: FitPlan, proposal: LoadOptions | None) -> FitPlan:
    """``plan`` with what was found to fit."""
    from engine.memory.fit.records import Verdict

    if proposal == plan.proposal:
        return plan
    layers = 0 if proposal is None else proposal.n_gpu_layers
    verdict = Verdict.NO if proposal is None else Verdict.PARTLY
    return msgspec.structs.replace(plan, proposal=proposal, proposed_layers=layers, verdict=verdict)
