"""The main window: pages, focus, shortcuts, memory of the last time, closing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QStackedWidget
from pytestqt.qtbot import QtBot

from app.notices import Notice, Severity
from app.settings.records import EngineSettings
from app.worker.service import NOTICE as DEATH_NOTICE
from engine.client.session import WorkerState
from engine.errors import VrambleError
from engine.protocol.frames import Failed
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import (
    HELLO,
    HELLO_CPU,
    PROCESSOR,
    QuickLoads,
    installed,
    make_services,
    message_row,
    model_info,
)
from tests.ui.shell.test_fit_offer import too_large
from ui.main_window import MainWindow
from ui.theme import Theme, ThemeMode
from ui.window_settings import WindowSettings


def shown_notices(window: Window) -> list[str]:
    return [card.text for card in window.window._notice_bar.cards]


def focus_name() -> str:
    widget = QApplication.focusWidget()
    return widget.objectName() if widget is not None else ""


def popup(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_without_a_model_two_ways_are_shown(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    assert window.find("starterButton").isVisible()
    assert window.find("findModelButton").isVisible()
    assert not window.find("composer").isVisible()
    assert focus_name() == "starterButton"


def test_without_a_starter_that_is_said(make_window: MakeWindow) -> None:
    services = make_services()
    services.library.has_starter = False
    window = make_window(services=services)
    assert not window.find("starterButton").isVisible()
    assert focus_name() == "findModelButton"


def test_the_starter_is_added_loaded_and_the_composer_has_the_focus(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.mouseClick(window.find("starterButton"), Qt.MouseButton.LeftButton)
    assert not window.find("starterButton").isEnabled()
    starter = installed("SmolLM2 135M Instruct")
    window.library.models = (starter,)
    window.library.models_changed.emit()
    window.library.starters[0](starter)
    assert [path for path, _ in window.worker.loads] == [starter.path]
    assert "SmolLM2" in window.picked()
    window.worker.finish_load(model_info(str(starter.path), name="SmolLM2 135M Instruct"))
    assert focus_name() == "composer"
    assert window.find("composer").isVisible()


def test_a_starter_that_cannot_be_added_is_told(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.mouseClick(window.find("starterButton"), Qt.MouseButton.LeftButton)
    window.library.starters[0](VrambleError("disk-full", "The disk is full.", "Free 100 MB."))
    assert shown_notices(window) == ["The disk is full. Free 100 MB."]
    assert window.find("starterButton").isEnabled()


def test_the_first_page_is_right_before_the_folder_was_read(make_window: MakeWindow) -> None:
    services = make_services()
    services.library.scanning = True
    services.settings.put(WindowSettings(had_model=True))
    window = make_window(services=services)
    assert focus_name() == "composer"
    services.library.scanning = False
    services.library.models_changed.emit()
    assert window.find("starterButton").isVisible()
    assert not services.settings.get(WindowSettings).had_model


def test_conversations_can_be_read_without_any_model(make_window: MakeWindow) -> None:
    window = make_window()
    window.chat.fill("Old one")
    window.chat.open("0")
    window.chat.show("Hello", "Hello to you.")
    assert window.find("transcript").isVisible()
    window.chat.new_conversation()
    assert window.find("starterButton").isVisible()


def test_a_model_is_chosen_from_the_picker_by_keyboard(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Beta", "Alpha")
    picker = window.button("modelPicker")
    assert window.picked() == "Choose a model"
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Down)
    menu = popup(qtbot)
    texts = [a.text().split("\t")[0] for a in menu.actions() if not a.isSeparator()]
    assert texts == ["Alpha", "Beta", "Models…"]
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert [path.name for path, _ in window.worker.loads] == ["Beta-Q4_K_M.gguf"]


def test_the_picker_names_the_model_that_the_next_message_loads(make_window: MakeWindow) -> None:
    services = make_services("Alpha", "Beta")
    services.settings.put(EngineSettings(last_model=str(services.library.models[0].path)))
    window = make_window(services=services)
    picker = window.button("modelPicker")
    assert window.picked() == "Alpha, not loaded"
    assert picker.text() == "Alpha, not loaded"
    assert "The next message loads it." in picker.toolTip()
    assert picker.palette().buttonText().color() == QColor(window.window._theme.tokens.muted)
    window.load()
    assert "not loaded" not in window.picked()
    assert "The next message loads it." not in picker.toolTip()
    assert picker.palette().buttonText().color() == QColor(window.window._theme.tokens.text)
    window.worker.set_model(None)
    assert window.picked().endswith(", not loaded")
    services.library.models = ()
    services.library.models_changed.emit()
    assert window.picked() == "Choose a model"


def test_the_loaded_model_is_checked_and_a_broken_one_cannot_be_chosen(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    broken = installed("Broken", can_chat=False, problem="The file is cut off.")
    window.library.models = (*window.library.models, broken)
    window.worker.set_model(model_info(str(window.library.models[0].path), name="Alpha"))
    window.window._header.open_picker()
    menu = popup(qtbot)
    checked = {a.text().split("\t")[0]: (a.isChecked(), a.isEnabled(), a.toolTip()) for a in menu.actions()}
    assert checked["Alpha"][:2] == (True, True)
    assert checked["Broken"] == (False, False, "The file is cut off.")
    menu.close()


def test_progress_appears_late_and_can_be_cancelled(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.window._model_actions.load(window.library.models[0].path)
    assert not window.find("loadProgress").isVisible()
    assert window.picked() == "Loading Alpha"
    qtbot.waitUntil(window.find("loadProgress").isVisible)
    window.worker.load_progress.emit(0.42)
    assert window.find("loadProgress").value() == 420  # type: ignore[attr-defined]
    qtbot.mouseClick(window.find("cancelLoadButton"), Qt.MouseButton.LeftButton)
    assert window.worker.cancelled == [1]
    window.worker.finish_load(Failed(id=1, code="cancelled", message="The load was cancelled."))
    assert shown_notices(window) == []
    qtbot.waitUntil(lambda: not window.find("loadProgress").isVisible())
    assert window.picked() == "Choose a model"


def test_a_reload_for_a_message_is_cancelled_through_the_chat(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.worker.set_state(WorkerState.LOADING)
    qtbot.waitUntil(window.find("loadProgress").isVisible)
    qtbot.mouseClick(window.find("cancelLoadButton"), Qt.MouseButton.LeftButton)
    assert window.chat.named("stop") == [("stop",)]


def test_a_failed_load_has_a_next_step(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    path = window.library.models[0].path
    window.window._model_actions.load(path)
    failed = Failed(id=1, code="not-gguf", message="It is no GGUF.", next_step="Get it again.", detail="magic 0")
    window.worker.finish_load(failed)
    (card,) = window.window._notice_bar.cards
    assert card.text == "It is no GGUF. Get it again."
    assert "magic 0" in card.notice.detail
    assert str(path) in card.notice.detail
    card.notice.actions[0].run()
    assert len(window.worker.loads) == 2
    assert shown_notices(window) == []


def test_a_failed_load_is_over_once_a_message_loads_the_model(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.window._model_actions.load(window.library.models[0].path)
    window.worker.finish_load(Failed(id=1, code="missing-file", message="The file is not there."))
    assert shown_notices(window) == ["The file is not there."]
    window.worker.set_model(None)
    assert shown_notices(window) == ["The file is not there."]
    window.worker.set_model(model_info())
    assert shown_notices(window) == []


def test_a_worker_that_dies_of_a_load_is_told_once(make_window: MakeWindow) -> None:
    """By the notice that offers to try again."""
    window = make_window("Alpha")
    window.window._model_actions.load(window.library.models[0].path)
    window.services.notices.post(Notice(DEATH_NOTICE, Severity.ERROR, "The GPU memory was not enough."))
    window.worker.set_state(WorkerState.CRASHED)
    failed = Failed(id=1, code="out-of-device-memory", message="The GPU memory was not enough.")
    window.worker.loads[0][1](failed)
    (card,) = window.window._notice_bar.cards
    assert [action.label for action in card.notice.actions] == ["Try again", "Models"]


def test_a_load_that_was_ended_on_purpose_is_no_failure(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.window._model_actions.load(window.library.models[0].path)
    window.worker.finish_load(Failed(id=1, code="stopped", message="The engine was stopped before it could answer."))
    assert shown_notices(window) == []


def test_an_overtaken_load_does_not_end_the_newer_one(make_window: MakeWindow) -> None:
    window = make_window("Alpha", "Beta")
    first, second = (model.path for model in window.library.models)
    window.window._model_actions.load(first)
    window.window._model_actions.load(second)
    window.worker.loads[0][1](Failed(id=1, code="cancelled", message="Cancelled."))
    assert window.picked() == "Loading Beta"
    window.worker.finish_load(model_info(str(second), name="Beta"))
    assert "Beta" in window.picked()


def test_another_model_during_an_answer_needs_a_second_word(make_window: MakeWindow) -> None:
    window = make_window("Alpha", "Beta")
    window.converse()
    window.worker.set_state(WorkerState.GENERATING)
    window.window._model_actions.load(window.library.models[1].path)
    assert window.worker.loads == []
    (card,) = window.window._notice_bar.cards
    card.notice.actions[0].run()
    assert len(window.worker.loads) == 1


def test_unload_is_there_only_with_a_model(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    assert not window.find("unloadButton").isVisible()
    window.load()
    qtbot.mouseClick(window.find("unloadButton"), Qt.MouseButton.LeftButton)
    assert window.worker.unloads == 1
    assert not window.find("unloadButton").isVisible()


def test_the_processor_is_named_with_its_reason(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.worker.set_hello(HELLO_CPU)
    window.worker.set_model(model_info(device=PROCESSOR, device_reason="No Vulkan driver was found."))
    label = window.button("deviceLabel")
    assert label.text() == "CPU"
    assert label.property("role") == "quiet-warn"
    assert "No Vulkan driver was found." in label.toolTip()
    label.setFocus()
    qtbot.keyClick(label, Qt.Key.Key_Space)
    sheets = [w for w in QApplication.topLevelWidgets() if w.objectName() == "popover" and w.isVisible()]
    assert len(sheets) == 1
    qtbot.keyClick(sheets[0], Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)


def test_enter_presses_the_button_with_the_focus(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.load()
    label = window.button("deviceLabel")
    label.setFocus()
    qtbot.keyClick(label, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    sheet = QApplication.activePopupWidget()
    assert sheet is not None
    sheet.close()


def test_sending_stopping_and_the_focus(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    composer = window.find("composer")
    qtbot.keyClicks(composer, "Hello")
    qtbot.keyClick(composer, Qt.Key.Key_Return)
    assert window.chat.named("send") == [("send", "Hello")]
    window.chat.busy_changed.emit(True)
    assert window.find("stopButton").isVisible()
    assert not window.find("sendButton").isVisible()
    qtbot.keyClick(composer, Qt.Key.Key_Escape)
    assert window.chat.named("stop") == [("stop",)]
    window.chat.busy_changed.emit(False)
    qtbot.keyClick(composer, Qt.Key.Key_Escape)
    assert window.chat.named("stop") == [("stop",)]
    assert window.find("sendButton").isVisible()
    assert focus_name() == "composer"


def test_escape_stops_wherever_the_focus_is(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    window.chat.busy_changed.emit(True)
    window.find("conversationList").setFocus()
    qtbot.keyClick(window.find("conversationList"), Qt.Key.Key_Escape)
    assert window.chat.named("stop") == [("stop",)]


def test_what_the_transcript_asks_of_the_chat(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.chat.show("Question", "Answer")
    window.window._page.transcript.version_requested.emit("m1", -1)
    window.window._page.transcript.regenerate_requested.emit()
    assert window.chat.calls[-2:] == [("version", "m1", "-1"), ("regenerate",)]


VERSIONS = {"version": 2, "versions": 3}


@pytest.mark.parametrize("name", ["copyMessageButton", "regenerateButton", "versionBackButton", "versionOnButton"])
@pytest.mark.parametrize("before", ["composer", "transcript"])
def test_after_a_click_on_a_message_one_types_in_the_composer(
    make_window: MakeWindow, qtbot: QtBot, name: str, before: str
) -> None:
    window = make_window("Qwen3 8B")
    window.converse()
    window.chat.transcript.reset([message_row(0, "What?"), message_row(1, "That.", **VERSIONS)])
    qtbot.waitUntil(lambda: window.find(name).isVisible())
    window.find(before).setFocus()
    qtbot.mouseClick(window.find(name), Qt.MouseButton.LeftButton)
    assert focus_name() == "composer"


def test_the_keyboard_stays_on_a_button_of_a_message(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Qwen3 8B")
    window.converse()
    qtbot.waitUntil(lambda: window.find("copyMessageButton").isVisible())
    button = window.find("copyMessageButton")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert QApplication.clipboard().text() == "It is the **graphics translation table**."
    assert focus_name() == "copyMessageButton"


def test_a_refused_message_comes_back(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    composer = window.find("composer")
    assert isinstance(composer, QPlainTextEdit)
    qtbot.keyClicks(composer, "Hello")
    qtbot.keyClick(composer, Qt.Key.Key_Return)
    assert composer.toPlainText() == ""
    window.chat.draft_restored.emit("Hello")
    assert composer.toPlainText() == "Hello"
    assert focus_name() == "composer"


def test_a_draft_stays_with_its_conversation(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    composer = window.find("composer")
    assert isinstance(composer, QPlainTextEdit)
    qtbot.keyClicks(composer, "half a thought")
    window.chat.open("1")
    assert composer.toPlainText() == ""
    window.chat.open("0")
    assert composer.toPlainText() == "half a thought"


def test_what_is_typed_while_a_new_chat_is_saved_stays(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    composer = window.find("composer")
    assert isinstance(composer, QPlainTextEdit)
    qtbot.keyClicks(composer, "first")
    qtbot.keyClick(composer, Qt.Key.Key_Return)
    qtbot.keyClicks(composer, "second")
    window.chat.fill("first")
    window.chat.open("0")
    assert composer.toPlainText() == "second"


def test_the_sidebar_folds_by_width_and_by_button(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    sidebar = window.window._sidebar
    assert sidebar.isVisible()
    window.window.resize(1024, 700)
    qtbot.waitUntil(lambda: not sidebar.isVisible())
    qtbot.mouseClick(window.find("sidebarButton"), Qt.MouseButton.LeftButton)
    assert sidebar.isVisible()
    assert window.services.settings.get(WindowSettings).sidebar
    window.window.resize(1280, 800)
    qtbot.keyClick(window.window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert not sidebar.isVisible()
    assert not window.services.settings.get(WindowSettings).sidebar
    assert window.find("sidebarButton").accessibleName() == "Show conversations"


def test_the_focus_leaves_a_sidebar_that_folds(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.chat.fill("One")
    window.find("conversationList").setFocus()
    qtbot.keyClick(window.find("conversationList"), Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert focus_name() == "composer"


def test_keys_for_what_is_done_often(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    window.find("conversationList").setFocus()
    qtbot.keyClick(window.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert window.chat.named("new") == [("new",)]
    assert focus_name() == "composer"
    qtbot.keyClick(window.window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    popup(qtbot).close()


def test_twenty_clicks_on_new_chat_make_nothing(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    for _ in range(20):
        qtbot.mouseClick(window.find("newChatButton"), Qt.MouseButton.LeftButton)
    assert window.chat.conversations.rowCount() == 0
    assert focus_name() == "composer"


def test_letters_typed_in_the_list_arrive_in_the_composer(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    composer = window.find("composer")
    assert isinstance(composer, QPlainTextEdit)
    window.find("conversationList").setFocus()
    qtbot.keyClick(window.find("conversationList"), Qt.Key.Key_H)
    assert composer.toPlainText() == "h"
    assert focus_name() == "composer"


def test_links_of_a_model_are_asked_for(make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window = make_window("Alpha")
    window.converse()
    opened: list[str] = []
    monkeypatch.setattr("ui.chat.page.QDesktopServices.openUrl", lambda url: opened.append(url.toString()))
    window.window._page.transcript.link_activated.emit("https://example.org/a?b=c")
    assert opened == []
    (card,) = window.window._notice_bar.cards
    assert "https://example.org/a?b=c" in card.text
    card.notice.actions[0].run()
    assert opened == ["https://example.org/a?b=c"]


def test_look_and_text_size_are_chosen_live_and_kept(make_window: MakeWindow, qtbot: QtBot, theme: Theme) -> None:
    window = make_window("Alpha")
    qtbot.mouseClick(window.find("moreButton"), Qt.MouseButton.LeftButton)
    menu = popup(qtbot)
    actions = {a.text(): a for a in menu.actions()}
    assert actions["Light"].isChecked()
    assert actions["100 %"].isChecked()
    actions["Dark"].trigger()
    actions["140 %"].trigger()
    menu.close()
    assert theme.tokens.dark
    assert theme.scale == 1.4
    kept = window.services.settings.get(WindowSettings)
    assert (kept.theme, kept.scale) == (ThemeMode.DARK, 1.4)


def test_the_window_comes_back_as_it_was(make_window: MakeWindow, theme: Theme) -> None:
    first = make_window("Alpha")
    first.chat.fill("One", "Two")
    first.chat.open("1")
    first.window.resize(900, 650)
    first.window.close()
    services = make_services("Alpha")
    services.settings = first.services.settings
    services.chat.fill("One", "Two")
    again = MainWindow(services, theme, has_starter=True)  # type: ignore[arg-type]
    again.begin()
    assert (again.width(), again.height()) == (900, 650)
    assert again.windowTitle() == "Two – Vramble"
    again.deleteLater()


def test_what_is_typed_before_the_history_was_read_stays(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = make_services("Alpha")
    services.chat.fill("One", "Two")
    services.settings.put(WindowSettings(conversation="1"))
    window = make_window(services=services)
    opened: list[str] = []
    monkeypatch.setattr(services.chat, "open", opened.append)
    window.window.begin()
    composer = window.find("composer")
    assert isinstance(composer, QPlainTextEdit)
    qtbot.keyClicks(composer, "typed early")
    services.chat.current_changed.emit(services.chat.conversations.find("1"))
    assert (opened, composer.toPlainText()) == (["1"], "typed early")


def test_a_damaged_geometry_is_no_obstacle(make_window: MakeWindow) -> None:
    services = make_services("Alpha")
    services.settings.put(WindowSettings(geometry="AAAA////not base64"))
    assert make_window(services=services).window.isVisible()


def test_coming_back_from_another_program_looks_for_models_again(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    before = window.library.scans
    application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert window.library.scans == before
    application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert window.library.scans == before + 1
    window.library.scanning = True
    application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert window.library.scans == before + 1


def test_memory_is_watched_only_while_seen(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    assert window.services.memory.watched == [True]
    window.window.hide()
    assert window.services.memory.watched == [True, False]


@pytest.mark.parametrize("state", [WorkerState.READY, WorkerState.LOADING, WorkerState.GENERATING])
def test_closing_hides_at_once_and_waits_without_blocking(
    make_window: MakeWindow, qtbot: QtBot, state: WorkerState
) -> None:
    window = make_window("Alpha")
    window.converse()
    window.worker.set_state(state)
    window.window.close()
    window.window.close()
    assert not window.window.isVisible()
    assert len(window.services.closings) == 1
    with qtbot.waitSignal(window.window.closed):
        window.services.closings[0]()


def test_services_that_never_close_do_not_keep_the_program(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.main_window.CLOSE_LIMIT_MS", 50)
    window = make_window("Alpha")
    with qtbot.waitSignal(window.window.closed):
        window.window.close()


def test_notices_above_the_composer(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.converse()
    window.services.notices.post(Notice("a", Severity.WARN, "Something."))
    bar, composer = window.find("noticeBar"), window.find("composer")
    assert bar.isVisible()
    assert bar.mapTo(window.window, bar.rect().bottomLeft()).y() < composer.mapTo(window.window, composer.pos()).y()


def test_the_hint_names_temperature_and_context(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.converse()
    hint = window.window._composer._hint
    assert hint.text() == "Temperature 0.7 · context 16k tokens"
    window.chat.new_conversation()
    assert hint.text() == "Temperature 0.7 · context 0 of 16k tokens"


BUSY_HINT = "An answer is being written. Press Esc to stop it, then send."


def test_enter_while_an_answer_is_written_says_what_to_do(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    hint, edit = window.window._composer._hint, window.find("composer")
    usual = hint.text()
    window.chat.busy_changed.emit(True)
    window.chat.accepts = False
    qtbot.keyClicks(edit, "wait")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert (hint.text(), window.window._composer.text()) == (BUSY_HINT, "wait")
    window.services.settings.put(WindowSettings(sidebar=False))
    qtbot.keyClicks(edit, "!")
    assert (hint.text(), window.window._composer.text()) == (BUSY_HINT, "wait!")
    assert window.chat.named("send") == [("send", "wait")]
    window.chat.accepts = True
    window.chat.busy_changed.emit(False)
    assert hint.text() == usual
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert window.chat.named("send") == [("send", "wait"), ("send", "wait!")]


def test_the_usual_hint_comes_back_while_the_answer_goes_on(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.chat.hint.BUSY_MS", 20)
    window = make_window("Alpha")
    window.converse()
    usual = window.window._composer._hint.text()
    window.chat.busy_changed.emit(True)
    window.window._hint.tell_busy()
    qtbot.waitUntil(lambda: window.window._composer._hint.text() == usual)


def test_enter_on_nothing_says_nothing(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha")
    window.converse()
    window.chat.busy_changed.emit(True)
    window.chat.accepts = False
    qtbot.keyClick(window.find("composer"), Qt.Key.Key_Return)
    assert window.window._composer._hint.text() != BUSY_HINT


def test_the_empty_page_says_what_to_do(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    assert window.find("chooseModelButton").isVisible()
    window.load()
    assert not window.find("chooseModelButton").isVisible()
    assert isinstance(window.window._page, QStackedWidget)


def page_text(window: Window) -> str:
    return window.window._page._empty._sentence.text()


def test_the_model_that_comes_back_is_named_after_an_eject(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window("Alpha", "Beta")
    window.window._model_actions.load(window.library.models[1].path)
    assert window.chat.expected == "Beta"
    window.worker.finish_load(model_info(str(window.library.models[1].path), name="Beta"))
    qtbot.mouseClick(window.find("unloadButton"), Qt.MouseButton.LeftButton)
    assert page_text(window) == "Beta is loaded again with your next message."
    assert window.chat.expected == "Beta"
    assert not window.find("chooseModelButton").isVisible()


def test_the_model_of_the_last_time_is_named_at_the_start(make_window: MakeWindow) -> None:
    services = make_services("Alpha", "Beta")
    services.settings.put(EngineSettings(last_model=str(services.library.models[0].path)))
    window = make_window(services=services)
    assert page_text(window) == "Alpha is loaded again with your next message."
    services.library.put("Beta")
    assert page_text(window) == "Choose one of the installed models to start a conversation."
    assert window.find("chooseModelButton").isVisible()


def test_the_device_is_told_before_any_model(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    assert not window.find("deviceLabel").isVisible()
    window.worker.set_hello(HELLO)
    assert window.button("deviceLabel").text() == "RX 7900 XTX · Vulkan"


def test_paths_are_paths(make_window: MakeWindow) -> None:
    window = make_window("Alpha")
    window.window._model_actions.load(Path("/elsewhere/Some-Model-Q8_0.gguf"))
    assert window.picked() == "Loading Some-Model-Q8_0"


def test_the_last_conversation_is_opened_at_the_start(make_window: MakeWindow) -> None:
    services = make_services("Alpha")
    services.settings.put(WindowSettings(had_model=True, conversation="1"))
    services.chat.fill("One", "Two")
    window = make_window(services=services)
    window.window.begin()
    assert window.chat.named("open") == [("open", "1")]
    assert window.window.windowTitle() == "Two – Vramble"


def test_a_message_to_a_model_that_would_not_fit_prepares_it(make_window: MakeWindow) -> None:
    services = make_services()
    services.library.put("Big")
    path = services.library.models[0].path
    window = make_window(services=services)
    loads = services.load
    assert isinstance(loads, QuickLoads)
    loads.refuses = too_large()
    services.chat.fit_wanted.emit(path)
    assert services.worker.load_options == []
    assert any(loads.refuses.reason in text for text in shown_notices(window))
