"""The ways to the load dialog, and what becomes of what was chosen there."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QSpinBox
from pytestqt.qtbot import QtBot

from app.worker.safe_mode import SafeMode
from engine.client.session import WorkerState
from engine.protocol.frames import Failed, Hello
from engine.protocol.types import DeviceKind, LoadOptions
from tests.fakes.options import window_options
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import HELLO, PROCESSOR, RADEON, model_info
from ui.load.dialog import LoadDialog

APU = msgspec.structs.replace(RADEON, name="AMD Custom GPU 0405 (RADV VANGOGH)", kind=DeviceKind.IGPU)
DECK = Hello(protocol=1, pid=4711, engine="llama-cpp-python", devices=(APU, PROCESSOR))


def test_a_long_list_of_models_stays_one_column(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(*(f"Model {number}" for number in range(80)))
    window.window._header.open_picker()
    menu = popup(qtbot)
    screen = menu.screen().availableGeometry()
    assert screen.contains(menu.geometry())
    places = [menu.actionGeometry(action) for action in menu.actions()]
    assert len({place.left() for place in places}) == 1
    assert places[-1].bottom() > screen.height(), "not more than there is room for"
    QTest.keyClick(menu, Qt.Key.Key_Up)
    last = menu.activeAction()
    assert last.text() == "Models…"
    assert menu.rect().contains(menu.actionGeometry(last))


def dialog_of(window: Window, qtbot: QtBot) -> LoadDialog:
    qtbot.waitUntil(lambda: any(d.isVisible() for d in window.window.findChildren(LoadDialog)))
    return next(d for d in window.window.findChildren(LoadDialog) if d.isVisible())


def popup(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def set_context(dialog: LoadDialog, tokens: int) -> None:
    spin = dialog.findChild(QSpinBox, "n_ctx")
    assert spin is not None
    spin.setValue(tokens)


def last_load(window: Window) -> tuple[Path, LoadOptions]:
    return window.worker.loads[-1][0], window.worker.load_options[-1]


@pytest.mark.parametrize(
    ("key", "modifier"),
    [
        (Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier),
    ],
)
def test_keys_in_the_picker_open_the_options(
    make_window: MakeWindow, qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier
) -> None:
    window = make_window("Alpha", "Beta")
    window.window._header.open_picker()
    menu = popup(qtbot)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, key, modifier)
    dialog = dialog_of(window, qtbot)
    assert "Beta" in dialog.windowTitle()
    assert window.worker.loads == []
    assert not menu.isVisible()
    dialog.close()


def test_the_sign_of_an_entry_opens_the_options_and_the_rest_loads(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha", "Beta")
    window.window._header.open_picker()
    menu = popup(qtbot)
    row = menu.actionGeometry(menu.actions()[1])
    QTest.mouseMove(menu, QPoint(row.right() - 10, row.center().y()))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=QPoint(row.right() - 10, row.center().y()))
    dialog = dialog_of(window, qtbot)
    assert "Beta" in dialog.windowTitle()
    dialog.close()
    window.window._header.open_picker()
    menu = popup(qtbot)
    row = menu.actionGeometry(menu.actions()[0])
    QTest.mouseMove(menu, row.center())
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=row.center())
    assert [path.name for path, _ in window.worker.loads] == ["Alpha-Q4_K_M.gguf"]


def test_what_was_chosen_is_loaded_and_remembered_once_it_worked(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha", "Beta")
    window.worker.set_hello(HELLO)
    path = window.library.models[0].path
    window.window._model_actions.choose_options(path)
    dialog = dialog_of(window, qtbot)
    set_context(dialog, 1234)
    dialog.footer.load_button.click()
    assert last_load(window) == (path, window_options(n_ctx=1234))
    remembered = window.services.load.remembered
    assert remembered.find(path) is None
    window.worker.finish_load(model_info(str(path)))
    assert remembered.find(path) == window_options(n_ctx=1234)
    window.window._model_actions.load(window.library.models[1].path)
    assert last_load(window)[1] == window_options()
    window.worker.finish_load(model_info(str(window.library.models[1].path)))
    window.window._model_actions.load(path)
    assert last_load(window)[1] == window_options(n_ctx=1234)


def test_without_the_tick_nothing_is_remembered(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = window.library.models[0].path
    window.window._model_actions.choose_options(path)
    dialog = dialog_of(window, qtbot)
    dialog.footer.remember.setChecked(False)
    set_context(dialog, 1234)
    dialog.footer.load_button.click()
    window.worker.finish_load(model_info(str(path)))
    assert window.services.load.remembered.find(path) is None
    window.window._model_actions.change_options()
    again = dialog_of(window, qtbot)
    assert again.options.n_ctx == 1234
    assert again.footer.load_button.text().startswith("Load again")
    again.close()


def test_a_load_that_fails_is_not_remembered_and_can_be_changed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = window.library.models[0].path
    window.window._model_actions.choose_options(path)
    dialog = dialog_of(window, qtbot)
    set_context(dialog, 999_999)
    dialog.footer.load_button.click()
    window.worker.finish_load(Failed(id=1, code="context-memory", message="There is not enough memory."))
    assert window.services.load.remembered.find(path) is None
    card = window.window._notice_bar.cards[0]
    assert [action.label for action in card.notice.actions] == ["Load options…", "Try again", "Models"]
    card.notice.actions[1].run()
    assert last_load(window)[1].n_ctx == 999_999
    card.notice.actions[0].run()
    again = dialog_of(window, qtbot)
    assert again.options.n_ctx == 999_999
    again.close()


def test_safer_settings_are_told_and_the_dialog_goes_away(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window("Alpha")
    path = window.library.models[0].path
    window.window._model_actions.load(path)
    window.worker.finish_load(model_info(str(path)))
    monkeypatch.setattr(SafeMode, "in_use", ("Flash attention is off.",))
    window.window._model_actions.change_options()
    dialog = dialog_of(window, qtbot)
    note = dialog.findChild(QLabel, "loadNote")
    assert note is not None
    assert note.text() == "Safer settings in use: Flash attention is off."
    dialog.reject()
    qtbot.waitUntil(lambda: not window.window.findChildren(LoadDialog))


def test_a_running_answer_is_not_cut_off_unasked(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = window.library.models[0].path
    window.load()
    window.worker.set_state(WorkerState.GENERATING)
    window.window._model_actions.load(path, window_options(n_ctx=55), remember=True)
    assert window.worker.loads == []
    window.window._notice_bar.cards[0].notice.actions[0].run()
    assert last_load(window) == (path, window_options(n_ctx=55))
    window.worker.finish_load(model_info(str(path)))
    assert window.services.load.remembered.options_for(path).n_ctx == 55


def test_the_menu_offers_a_change_only_after_a_load(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.window._header._open_more()
    menu = popup(qtbot)
    change = next(a for a in menu.actions() if a.text().startswith("Change load options…"))
    assert not change.isEnabled()
    menu.close()
    path = window.library.models[0].path
    window.window._model_actions.load(path)
    window.worker.finish_load(model_info(str(path)))
    for open_menu in (window.window._header._open_more, window.window._header.open_picker):
        open_menu()
        menu = popup(qtbot)
        change = next(a for a in menu.actions() if a.text().startswith("Change load options…"))
        change.trigger()
        menu.close()
        dialog = dialog_of(window, qtbot)
        assert dialog.footer.load_button.text().startswith("Load again")
        dialog.close()
        qtbot.waitUntil(lambda: not any(d.isVisible() for d in window.window.findChildren(LoadDialog)))


def test_a_shortcut_changes_the_options_of_what_is_loaded(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window.window, Qt.Key.Key_O, keys)
    assert not window.window.findChildren(LoadDialog)
    path = window.library.models[0].path
    window.window._model_actions.load(path)
    window.worker.finish_load(model_info(str(path)))
    QTest.keyClick(window.window, Qt.Key.Key_O, keys)
    assert dialog_of(window, qtbot).footer.load_button.text().startswith("Load again")


def test_the_first_load_on_an_apu_is_suited_and_told(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.worker.set_hello(DECK)
    path = window.library.models[0].path
    window.window._model_actions.load(path)
    assert last_load(window)[1] == window_options(n_ubatch=128, mmap=False)
    window.worker.finish_load(model_info(str(path), device=APU))
    picker = window.button("modelPicker")
    assert "small steps" in picker.toolTip()
    assert "small steps" in picker.accessibleDescription()
    window.window._model_actions.change_options()
    dialog = dialog_of(window, qtbot)
    note = dialog.findChild(QLabel, "profileNote")
    assert note is not None
    assert note.text().startswith("Chosen for integrated graphics.")
    dialog.footer.reset_all.click()
    dialog.footer.load_button.click()
    assert last_load(window)[1] == window_options()
    window.worker.finish_load(model_info(str(path), device=APU))
    assert "small steps" not in picker.toolTip()
    window.window._model_actions.load(path)
    assert last_load(window)[1] == window_options()
