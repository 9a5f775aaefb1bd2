"""What the model does not read any more is greyed, and the meter says what stands for it."""

from __future__ import annotations

import msgspec
from PySide6.QtWidgets import QWidget

from app.chat.settings import ContextPolicy
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import model_info
from ui.chat.context_meter import ContextMeter
from ui.chat.transcript.view import TranscriptView

LONG = "word " * 300


def left_out(window: Window) -> int:
    view = window.find("transcript")
    assert isinstance(view, TranscriptView)
    return view.scene.left_out


def converse(window: Window) -> None:
    window.converse()
    window.worker.set_model(model_info(n_ctx=1024))
    window.chat.show(LONG, LONG, LONG, LONG, "last", "Well.")


def test_a_summary_stands_for_what_is_greyed(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    converse(window)
    window.chat.parameters.change(overflow=ContextPolicy.SUMMARISE)
    assert left_out(window) == 0
    rows = list(window.chat.transcript.rows)
    rows[4] = msgspec.structs.replace(rows[4], summary="They spoke of words.")
    window.chat.transcript.show(rows)
    window.chat.current_changed.emit(window.chat.current)
    assert left_out(window) == 4
    meter = window.find("contextMeter")
    assert isinstance(meter, ContextMeter)
    assert "Summary of earlier messages: " in meter.words()


def test_what_is_greyed_goes_by_the_choice(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    converse(window)
    assert left_out(window) == 0
    window.chat.parameters.change(overflow=ContextPolicy.SHIFT)
    assert left_out(window) > 0
    window.chat.parameters.change(overflow=ContextPolicy.STOP)
    assert left_out(window) == 0


def test_the_panel_offers_all_choices(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.converse()
    window.button("parametersButton").click()
    choice: QWidget = window.find("parameter-overflow")
    choice.activated.emit(2)  # type: ignore[attr-defined]
    assert window.chat.parameters.present.overflow is ContextPolicy.SUMMARISE
