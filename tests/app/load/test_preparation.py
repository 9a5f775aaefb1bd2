"""Before a load that nobody chose the options of."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from app.load.preparation import Preparation
from engine.memory.fit import FitPlan
from engine.memory.fit.records import Verdict
from engine.protocol.types import LoadOptions

PATH = Path("/models/a.gguf")
ASKED = LoadOptions()


def layers(number: int) -> LoadOptions:
    return LoadOptions(n_gpu_layers=number)


def plan(verdict: Verdict, options: LoadOptions = ASKED, proposal: LoadOptions | None = None) -> FitPlan:
    return FitPlan(
        options=options, uses=(), verdict=verdict, reason="Because.", gpu_layers=33, max_layers=33, room=1,
        proposal=proposal, proposed_layers=proposal.n_gpu_layers if proposal else 0,
    )  # fmt: skip


class Forecasts(QObject):
    """Plans before and after a dry run of their options."""

    known = Signal()
    measured = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.read, self.runs = True, True
        self.before: dict[LoadOptions, FitPlan | None] = {}
        self.after: dict[LoadOptions, FitPlan | None] = {}
        self.tried: list[LoadOptions] = []
        self.asking: LoadOptions | None = None

    def read_header(self, path: Path) -> bool:
        return self.read

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        done = options in self.tried and options != self.asking
        return self.after.get(options, self.before.get(options)) if done else self.before.get(options)

    def refine(self, path: Path, options: LoadOptions) -> bool:
        if self.runs:
            self.asking = options
            self.tried.append(options)
        return self.runs

    def is_refining(self, path: Path, options: LoadOptions) -> bool:
        return self.asking == options

    def answer(self) -> None:
        self.asking = None
        self.measured.emit()


@pytest.fixture
def forecasts(qtbot: QtBot) -> Forecasts:
    return Forecasts()


def begin(forecasts: Forecasts) -> tuple[Preparation, list[FitPlan | None]]:
    answers: list[FitPlan | None] = []
    preparation = Preparation(forecasts, PATH, ASKED, answers.append, forecasts)
    preparation.begin()
    return preparation, answers


@pytest.mark.parametrize("found", [None, plan(Verdict.FITS), plan(Verdict.TIGHT), plan(Verdict.UNKNOWN)])
def test_what_fits_is_loaded_at_once(forecasts: Forecasts, found: FitPlan | None) -> None:
    forecasts.before[ASKED] = found
    preparation, answers = begin(forecasts)
    assert answers == [None]
    assert not preparation.waiting
    assert forecasts.tried == []


def test_a_header_is_waited_for(forecasts: Forecasts) -> None:
    forecasts.read = False
    _, answers = begin(forecasts)
    assert answers == []
    forecasts.read = True
    forecasts.known.emit()
    assert answers == [None]


def test_a_dry_run_may_say_that_it_fits(forecasts: Forecasts) -> None:
    forecasts.before[ASKED] = plan(Verdict.PARTLY, proposal=layers(20))
    forecasts.after[ASKED] = plan(Verdict.TIGHT)
    _, answers = begin(forecasts)
    assert forecasts.tried == [ASKED]
    forecasts.answer()
    assert answers == [None]


def test_a_proposal_is_checked_and_made_smaller(forecasts: Forecasts) -> None:
    forecasts.before[ASKED] = plan(Verdict.PARTLY, proposal=layers(20))
    forecasts.before[layers(20)] = plan(Verdict.FITS, layers(20), layers(20))
    forecasts.after[layers(20)] = plan(Verdict.PARTLY, layers(20), layers(18))
    forecasts.before[layers(18)] = plan(Verdict.FITS, layers(18), layers(18))
    _, answers = begin(forecasts)
    for _ in range(3):
        forecasts.answer()
    assert forecasts.tried == [ASKED, layers(20), layers(18)]
    (found,) = answers
    assert found is not None
    assert (found.verdict, found.proposal, found.proposed_layers) == (Verdict.PARTLY, layers(18), 18)


def test_without_dry_runs_the_formula_proposes(forecasts: Forecasts) -> None:
    forecasts.runs = False
    forecasts.before[ASKED] = plan(Verdict.PARTLY, proposal=layers(20))
    _, answers = begin(forecasts)
    assert answers == [forecasts.before[ASKED]]


def test_nothing_fits(forecasts: Forecasts) -> None:
    forecasts.before[ASKED] = plan(Verdict.NO)
    _, answers = begin(forecasts)
    forecasts.answer()
    assert answers == [plan(Verdict.NO)]


def test_it_ends_when_nothing_comes_and_when_nobody_wants_it(forecasts: Forecasts) -> None:
    forecasts.before[ASKED] = plan(Verdict.NO)
    preparation, answers = begin(forecasts)
    preparation._limit.timeout.emit()
    assert answers == [plan(Verdict.NO)]
    preparation, answers = begin(forecasts)
    preparation.cancel()
    forecasts.answer()
    assert answers == []
