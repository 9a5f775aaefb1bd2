"""The models window as a whole: pages, keys, reach, and as a page of the main window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QStackedWidget, QTableView, QTabWidget, QWidget

from app.folders.look import FolderLook
from app.jobs import ThreadExecutor
from app.library.service import ImportMode
from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import GATED, installed, job, page
from ui.library.keep.models_table import Column
from ui.library.presenting import _put_into
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY, ModelManagerWindow
from ui.theme import TARGET_SIZE, Theme, ThemeMode


def test_an_empty_library_begins_with_discover(fake: Manager) -> None:
    assert fake.page() == DISCOVER
    assert [fake.find("managerTabs", QTabWidget).tabText(number) for number in range(3)] == [
        "Discover",
        "Library",
        "Downloads",
    ]


@pytest.mark.usefixtures("filled")
def test_with_models_it_begins_with_the_library(manager: Manager) -> None:
    assert manager.page() == LIBRARY
    assert manager.find("managerTabs", QTabWidget).tabText(LIBRARY) == "Library 2"


def test_the_hub_is_watched_while_the_window_is_seen(fake: Manager) -> None:
    assert fake.hub.watched
    fake.window.close()
    assert not fake.hub.watched
    fake.window.present(get=True)
    assert fake.hub.watched


@pytest.mark.parametrize("number", range(3))
def test_escape_closes_the_window_from_every_page(fake: Manager, number: int) -> None:
    fake.tab(number)
    fake.press(Qt.Key.Key_Tab)
    fake.press(Qt.Key.Key_Escape)
    fake.until(lambda: not fake.window.isVisible())


def test_escape_answers_a_question_before_it_closes_the_window(fake: Manager) -> None:
    fake.library.set_models(installed("Qwen3-8B", "Q8_0", 8.7))
    fake.tab(LIBRARY)
    fake.click("deleteModelButton")
    fake.press(Qt.Key.Key_Escape)
    assert fake.window.isVisible()
    fake.press(Qt.Key.Key_Escape)
    assert not fake.window.isVisible()


def test_pages_turn_by_keys(fake: Manager) -> None:
    fake.tab(DISCOVER)
    control = Qt.KeyboardModifier.ControlModifier
    fake.press(Qt.Key.Key_PageDown, control)
    assert fake.page() == LIBRARY
    fake.press(Qt.Key.Key_PageDown, control)
    fake.press(Qt.Key.Key_PageDown, control)
    assert fake.page() == DISCOVER
    fake.press(Qt.Key.Key_PageUp, control)
    assert fake.page() == DOWNLOADS


def test_f5_looks_again(fake: Manager) -> None:
    fake.tab(LIBRARY)
    before = fake.library.calls.count(("rescan",))
    fake.press(Qt.Key.Key_F5)
    assert fake.library.calls.count(("rescan",)) == before + 1
    fake.tab(DISCOVER)
    fake.window.discover.open_repo("maker/Qwen3-8B-GGUF")
    fake.press(Qt.Key.Key_F5)
    assert fake.hub.asked[-1] == "refresh"


def fill(manager: Manager) -> None:
    """Something on every page, with the longest cards."""
    manager.library.set_models(*(installed(f"Model-{number}", "Q4_K_M", 5.0 + number) for number in range(3)))
    manager.downloads.set_jobs(job(1, "a/One", "One.gguf"), job(2, "b/Two", "Two.gguf"))
    manager.window.discover.bar.edit.setText("gemma")
    manager.hub.answer(GATED)
    manager.window.discover.list.choose(0)
    manager.until(lambda: f"open {GATED.repo}" in manager.hub.asked)
    manager.hub.give(page(GATED.repo, sees=True, summary=GATED))
    manager.window.discover.bar._fold.setChecked(True)
    manager.window.queue._fold.setChecked(True)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(900, 560), (1180, 740), (1280, 800)])
@pytest.mark.parametrize("number", [DISCOVER, LIBRARY, DOWNLOADS])
def test_targets_names_and_room(fake: Manager, theme: Theme, number: int, size: tuple[int, int]) -> None:
    theme.set_mode(ThemeMode.DARK)
    fill(fake)
    fake.window.resize(*size)
    fake.tab(number)
    fake.qtbot.wait(1)
    room = fake.window.rect()
    for button in fake.window.findChildren(QAbstractButton):
        scrolled = fake.window.queue._inside.isAncestorOf(button) or button.objectName().startswith("get-")
        scrolled = scrolled or (size[0] == 900 and fake.window.discover.pane.isAncestorOf(button))
        if button.isVisible() and button.objectName() not in ("", "qt_toolbar_ext_button"):
            assert button.height() >= TARGET_SIZE, button.objectName()
            assert button.accessibleName() or button.text(), button.objectName()
            corner = button.mapTo(fake.window, button.rect().bottomRight())
            assert scrolled or room.contains(corner), button.objectName()
            assert not button.text() or button.width() >= button.sizeHint().width() - 4, button.objectName()
    assert fake.window.size().toTuple() == size


def test_narrow_windows_leave_columns_out(fake: Manager) -> None:
    fake.library.set_models(installed("Qwen3-8B", "Q8_0", 8.7))
    fake.tab(LIBRARY)
    view = fake.find("installedTable", QTableView)
    fake.window.resize(1180, 740)
    fake.until(lambda: not view.isColumnHidden(Column.USED))
    assert not view.isColumnHidden(Column.CONTEXT)
    fake.window.resize(900, 560)
    fake.until(lambda: view.isColumnHidden(Column.CONTEXT))
    assert not view.isColumnHidden(Column.STATUS)
    fake.until(lambda: view.horizontalScrollBar().maximum() == 0)
    fake.window.resize(1720, 800)
    fake.until(lambda: not view.isColumnHidden(Column.SOURCE))


# ---- in the main window (Game Mode)


@pytest.fixture
def stacked(fake: Manager, tmp_path: Path) -> Any:
    """The window as a page beside a chat, with the own picker looking into ``tmp_path``."""
    folders = FolderLook(ThreadExecutor("folders"), tmp_path)
    layers = QStackedWidget()
    layers.addWidget(QLabel("chat"))
    fake.window.close()
    manager = ModelManagerWindow(replace(fake.parts, in_one_window=True, folders=folders))
    _put_into(layers, manager)
    fake.window = manager
    layers.resize(1280, 800)
    layers.show()
    fake.qtbot.waitExposed(layers)
    layers.activateWindow()
    yield layers
    folders.shutdown()
    layers.close()


def test_in_the_main_window_it_comes_and_goes_as_a_page(fake: Manager, stacked: QStackedWidget) -> None:
    fake.window.present(get=True)
    assert stacked.currentWidget() is fake.window
    assert not fake.window.isWindow()
    fake.click("backToChat")
    assert stacked.currentIndex() == 0
    fake.window.present()
    fake.press(Qt.Key.Key_Escape)
    assert stacked.currentIndex() == 0


def test_the_own_picker_takes_files_by_keyboard(fake: Manager, stacked: QStackedWidget, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "model.gguf").write_bytes(b"x")
    (tmp_path / "folder" / "notes.txt").write_bytes(b"x")
    fake.window.present()
    fake.tab(LIBRARY)
    fake.click("emptyImportButton")
    fake.until(lambda: [row[0] for row in fake.rows("pickerList")] == ["folder"])
    assert fake.window.focusWidget() is fake.find("pickerList")
    fake.press(Qt.Key.Key_Return)
    fake.until(lambda: [row[0] for row in fake.rows("pickerList")] == ["model.gguf    1 byte"])
    assert fake.find("pickerPath", QLabel).text() == str(tmp_path / "folder")
    fake.press(Qt.Key.Key_Return)
    assert "Take model.gguf over?" in fake.find("questionBar").accessibleName()
    fake.click_text("Copy")
    assert fake.library.calls[-1] == ("import_files", (tmp_path / "folder/model.gguf",), ImportMode.COPY, "")


def test_the_own_picker_takes_a_folder(fake: Manager, stacked: QStackedWidget, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    fake.window.present()
    fake.tab(LIBRARY)
    fake.click("addRootButton")
    fake.until(lambda: [row[0] for row in fake.rows("pickerList")] == ["models"])
    fake.press(Qt.Key.Key_Return)
    fake.until(lambda: fake.rows("pickerList") == [])
    fake.press(Qt.Key.Key_Backspace)
    fake.until(lambda: [row[0] for row in fake.rows("pickerList")] == ["models"])
    fake.press(Qt.Key.Key_Return)
    fake.until(lambda: fake.rows("pickerList") == [])
    assert fake.find("pickerTake", QPushButton).text() == "Use this folder"
    fake.click("pickerTake")
    assert fake.library.calls[-1] == ("add_root", tmp_path / "models")


def test_escape_leaves_the_picker_first(fake: Manager, stacked: QStackedWidget) -> None:
    fake.window.present()
    fake.tab(LIBRARY)
    fake.click("addRootButton")
    fake.until(lambda: fake.shows("pickerList"))
    fake.press(Qt.Key.Key_Escape)
    assert not fake.shows("pickerList")
    assert stacked.currentWidget() is fake.window
    assert isinstance(fake.window, QWidget)
