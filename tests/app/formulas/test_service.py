"""Formulas are drawn once each, elsewhere than on the GUI thread."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.formulas.service import FormulaService
from engine.formulas.records import Drawing, FormulaError
from tests.app.chat.cranked import Cranked


@pytest.fixture
def executor() -> Cranked:
    return Cranked()


def crank(executor: Cranked, service: FormulaService, qtbot: QtBot) -> None:
    with qtbot.waitSignal(service.drawn):
        executor.drain()


def test_a_formula_is_known_after_it_was_drawn(qtbot, executor):
    service = FormulaService(executor)
    assert service.find("x", display=False) is None
    assert service.find("x", display=False) is None
    assert len(executor.waiting) == 1, "asked for twice, drawn once"
    crank(executor, service, qtbot)
    assert isinstance(service.find("x", display=False), Drawing)
    assert service.find("x", display=True) is None, "the style makes it another one"


def test_what_is_no_formula_is_known_as_such(qtbot, executor):
    service = FormulaService(executor)
    service.find(r"\frac{a", display=False)
    crank(executor, service, qtbot)
    assert isinstance(service.find(r"\frac{a", display=False), FormulaError)
    assert len(executor.waiting) == 0


def test_the_least_wanted_go(qtbot, executor):
    service = FormulaService(executor, kept=2)
    for latex in ("a", "b"):
        service.find(latex, display=False)
        crank(executor, service, qtbot)
    service.find("a", display=False)
    service.find("c", display=False)
    crank(executor, service, qtbot)
    assert isinstance(service.find("a", display=False), Drawing)
    assert service.find("b", display=False) is None


def test_nothing_is_drawn_after_the_end(qapp, executor):
    service = FormulaService(executor)
    service.find("x", display=False)
    service.shutdown()
    assert executor.done == 1
    assert service.find("x", display=False) is None
