"""A load that would not fit: one notice with what fits, and nothing loaded unasked."""

from __future__ import annotations

import msgspec

from app.notices import Notice
from app.settings.records import EngineSettings
from engine.memory.fit import fit_devices, predict
from engine.memory.fit.records import FitModel, FitPlan, LayerCache, Piece, Verdict
from engine.protocol.frames import Failed
from engine.protocol.types import LoadOptions
from tests.ui.shell.standins import GIB, HELLO, FakeServices, QuickLoads
from ui.chat.model_actions import ModelActions

MODEL = FitModel(
    n_layers=36,
    context_length=32768,
    pieces=tuple(Piece(layer, GIB) for layer in range(37)),
    caches=(LayerCache(keys=1024, values=1024),) * 36,
)


class Screen:
    def __init__(self) -> None:
        self.services = FakeServices()
        self.notices: list[Notice] = []
        self.services.notices.posted.connect(self.notices.append)
        self.services.worker.set_hello(HELLO)
        self.services.library.put("Big")
        self.model = self.services.library.models[0]
        loads = self.services.load
        assert isinstance(loads, QuickLoads)
        self.loads = loads
        self.actions = ModelActions(
            self.services.worker,  # type: ignore[arg-type]
            self.services.library,  # type: ignore[arg-type]
            self.services.settings,  # type: ignore[arg-type]
            self.services.notices,
            loads,
        )

    def press(self, beginning: str) -> None:
        (action,) = [one for one in self.notices[-1].actions if one.label.startswith(beginning)]
        action.run()

    @property
    def loaded_with(self) -> list[LoadOptions]:
        return self.services.worker.load_options


def too_large() -> FitPlan:
    found = predict(MODEL, LoadOptions(), fit_devices(HELLO.devices))
    assert found.verdict is Verdict.PARTLY
    return found


def test_what_would_not_fit_is_offered_as_it_fits(qtbot) -> None:
    screen = Screen()
    screen.loads.refuses = plan = too_large()
    screen.actions.load(screen.model.path)
    (notice,) = screen.notices
    assert plan.reason in notice.text
    assert screen.loaded_with == []
    assert screen.actions.loading == ""
    screen.press(f"Load with {plan.proposed_layers} of 37 layers")
    assert screen.loaded_with == [plan.proposal]


def test_the_user_may_load_it_anyway_or_choose(qtbot) -> None:
    screen = Screen()
    screen.loads.refuses = too_large()
    screen.actions.load(screen.model.path)
    with qtbot.waitSignal(screen.actions.options_wanted):
        screen.press("Load options")
    screen.press("Load anyway")
    assert screen.loaded_with == [EngineSettings().load_options()]


def test_nothing_fits(qtbot) -> None:
    screen = Screen()
    screen.loads.refuses = msgspec.structs.replace(too_large(), proposal=None, verdict=Verdict.NO)
    screen.actions.load(screen.model.path)
    assert [action.label for action in screen.notices[-1].actions] == ["Load options…", "Load anyway"]


def test_chosen_and_remembered_options_are_taken_at_their_word(qtbot) -> None:
    screen = Screen()
    screen.loads.refuses = too_large()
    screen.actions.load(screen.model.path, LoadOptions(n_ctx=512))
    screen.loads.remembered.remember(screen.model.path, LoadOptions(n_ctx=1024))
    screen.actions.load(screen.model.path)
    assert [options.n_ctx for options in screen.loaded_with] == [512, 1024]
    assert screen.notices == []


def test_a_load_that_fails_for_memory_names_the_forecast(qtbot, monkeypatch) -> None:
    screen = Screen()
    plan = too_large()
    monkeypatch.setattr(screen.loads, "forecast", lambda _path, _options: plan)
    screen.actions.load(screen.model.path)
    screen.services.worker.finish_load(Failed(id=1, code="out-of-memory", message="Too little memory."))
    assert f"By the forecast: {plan.reason}" in screen.notices[-1].text
    screen.actions.load(screen.model.path)
    screen.services.worker.finish_load(Failed(id=2, code="cut-file", message="Cut."))
    assert "forecast" not in screen.notices[-1].text
