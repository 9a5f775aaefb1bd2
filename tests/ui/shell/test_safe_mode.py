"""Safer settings in the window: the button, what is tried, the line at the device, the way back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.worker.safer_settings import SafeModeSettings
from engine.client.session import WorkerState
from engine.protocol.frames import Failed
from engine.protocol.types import LoadOptions
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import HELLO, HELLO_CPU, PROCESSOR, model_info
from ui.widgets.notice_card import NoticeCard

FULL = Failed(id=1, code="out-of-device-memory", message="The GPU memory was not enough.")


def cards(window: Window) -> tuple[NoticeCard, ...]:
    return window.window._notice_bar.cards


def labels(window: Window) -> list[str]:
    (card,) = cards(window)
    return [action.label for action in card.notice.actions]


def click(window: Window, qtbot: QtBot, label: str) -> None:
    (card,) = cards(window)
    (button,) = [b for b in card.findChildren(QPushButton) if b.text() == label]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def fail_load(window: Window) -> Path:
    path = window.library.models[0].path
    window.worker.set_hello(HELLO)
    window.window._model_actions.load(path)
    window.worker.finish_load(FULL)
    return path


def used(window: Window, path: Path) -> LoadOptions:
    """What a real worker service would send for the next load; it counts as sent."""
    safe_mode = window.worker.safe_mode
    assert safe_mode is not None
    load = safe_mode.plan(path, LoadOptions())
    safe_mode.sent(load)
    return load.options


def popover() -> QWidget:
    (sheet,) = [w for w in QApplication.topLevelWidgets() if w.objectName() == "popover" and w.isVisible()]
    return sheet


def test_a_failed_load_offers_safer_settings(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = fail_load(window)
    assert labels(window) == ["Try safer settings", "Try again", "Models"]
    click(window, qtbot, "Try safer settings")
    assert [loaded for loaded, _ in window.worker.loads] == [path, path]
    assert used(window, path).n_ubatch == 128
    (card,) = cards(window)
    assert "steps of 128 tokens" in card.text
    assert window.picked() == "Loading Alpha"
    window.worker.finish_load(model_info(str(path)))
    (card,) = cards(window)
    assert "loaded with safer settings" in card.text
    (kept,) = window.services.settings.get(SafeModeSettings).entries
    assert (kept.model, kept.device, kept.rungs) == (str(path), "0000:03:00.0", ("micro-batch-128",))


def test_it_goes_on_while_loads_fail(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = fail_load(window)
    click(window, qtbot, "Try safer settings")
    window.worker.finish_load(FULL)
    assert len(window.worker.loads) == 3
    assert used(window, path).n_ubatch == 64
    assert labels(window) == ["Stop"]


def test_the_load_that_is_tried_can_be_cancelled_where_every_load_can(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    fail_load(window)
    click(window, qtbot, "Try safer settings")
    qtbot.waitUntil(window.find("loadProgress").isVisible)
    qtbot.mouseClick(window.find("cancelLoadButton"), Qt.MouseButton.LeftButton)
    assert window.worker.cancelled == [2]
    window.worker.finish_load(Failed(id=2, code="cancelled", message="Loading was cancelled."))
    assert cards(window) == ()


def test_nothing_is_offered_without_a_gpu(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.worker.set_hello(HELLO_CPU)
    window.window._model_actions.load(window.library.models[0].path)
    window.worker.finish_load(FULL)
    assert labels(window) == ["Try again", "Models"]


def test_the_device_says_what_is_safer_and_leads_back(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = fail_load(window)
    click(window, qtbot, "Try safer settings")
    used(window, path)
    window.worker.finish_load(model_info(str(path)))
    device = window.find("deviceLabel")
    qtbot.mouseClick(device, Qt.MouseButton.LeftButton)
    texts = "\n".join(label.text() for label in popover().findChildren(QLabel))
    assert "Safer settings in use: The GPU reads prompts in steps of 128 tokens." in texts
    button = popover().findChild(QPushButton, "popoverAction")
    assert button is not None
    assert button.text() == "Use normal settings"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.services.settings.get(SafeModeSettings).entries == ()
    assert len(window.worker.loads) == 3
    assert used(window, path) == LoadOptions()
    window.worker.finish_load(model_info(str(path)))
    assert all("Safer settings" not in line for line in window.window._header._device.view.details)


def test_the_way_back_waits_for_the_answer(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = fail_load(window)
    click(window, qtbot, "Try safer settings")
    used(window, path)
    window.worker.finish_load(model_info(str(path)))
    window.worker.set_state(WorkerState.GENERATING)
    qtbot.mouseClick(window.find("deviceLabel"), Qt.MouseButton.LeftButton)
    assert popover().findChild(QPushButton, "popoverAction") is None


def test_normal_loads_have_no_line(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.load()
    window.worker.set_model(model_info(device=PROCESSOR))
    assert all("Safer settings" not in line for line in window.window._header._device.view.details)
