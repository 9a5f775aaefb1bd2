"""The header in a narrow window: what does not fit is left out whole."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.shell.conftest import MakeWindow
from tests.ui.shell.standins import HELLO, HELLO_CPU, PROCESSOR, model_info
from ui.chat.device_label import device_view


def test_device_backend_and_speed_go_one_after_the_other() -> None:
    view = device_view(HELLO, model_info(), 41.23)
    assert (view.text, view.shorter) == (
        "RX 7900 XTX · Vulkan · 41.2 tok/s",
        ("RX 7900 XTX · Vulkan", "RX 7900 XTX"),
    )
    assert device_view(HELLO_CPU, model_info(device=PROCESSOR), 41.23).shorter == ("CPU",)


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("cpu", [False, True])
def test_beside_both_panels_nothing_ends_in_the_middle(
    make_window: MakeWindow, qtbot: QtBot, scale: float, cpu: bool
) -> None:
    window = make_window("Alpha")
    window.converse()
    if cpu:
        window.worker.set_hello(HELLO_CPU)
        window.worker.set_model(model_info(name="A model with a name that is very long", device=PROCESSOR))
    else:
        window.worker.set_model(model_info(name="A model with a name that is very long"))
    window.worker.speed_changed.emit(41.23)
    window.window._theme.set_scale(scale)
    window.button("parametersButton").click()
    label = window.button("deviceLabel")
    qtbot.waitUntil(lambda: "…" not in label.text(), timeout=60_000)
    whole = "CPU · 41.2 tok/s" if cpu else "RX 7900 XTX · Vulkan · 41.2 tok/s"
    assert whole.startswith(label.text())
    assert window.window.width() == 1280
    assert label.accessibleName() == f"Runs on: {whole}"


def test_with_room_all_of_it_is_said(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    window.worker.speed_changed.emit(41.23)
    label = window.button("deviceLabel")
    qtbot.waitUntil(lambda: label.text() == "RX 7900 XTX · Vulkan · 41.2 tok/s", timeout=60_000)


def test_where_little_fits_the_device_goes_before_the_model(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    header = window.window._header
    header.setFixedWidth(420)
    qtbot.waitUntil(lambda: not window.find("deviceLabel").isVisible(), timeout=60_000)
    picker, models = window.button("modelPicker"), window.button("modelsButton")
    qtbot.waitUntil(lambda: len(picker.text()) > 3, timeout=60_000)
    assert (models.text(), models.accessibleName()) == ("", "Models")
    header.setFixedWidth(800)
    qtbot.waitUntil(lambda: window.find("deviceLabel").isVisible(), timeout=60_000)
    assert models.text() == "Models"


def test_what_gave_way_stays_away_when_the_speed_changes(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    window.window._header.setFixedWidth(420)
    qtbot.waitUntil(lambda: not window.find("deviceLabel").isVisible(), timeout=60_000)
    window.worker.speed_changed.emit(41.23)
    assert not window.find("deviceLabel").isVisible()
