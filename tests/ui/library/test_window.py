"""The models window as a whole: pages, keys, reach, and as a page of the main window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QTableView, QTabWidget

from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import GATED, installed, job, page
from ui.library.keep.columns import Column
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY
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


def test_at_large_text_the_name_keeps_its_room(fake: Manager, theme: Theme) -> None:
    theme.set_scale(1.7)
    fake.library.set_models(installed("Qwen3-8B", "Q8_0", 8.7))
    fake.tab(LIBRARY)
    view = fake.find("installedTable", QTableView)
    fake.window.resize(1280, 740)
    fake.until(lambda: view.columnWidth(Column.NAME) >= theme.px(180))
    assert not view.isColumnHidden(Column.FIT)
    assert not view.isColumnHidden(Column.STATUS)
    assert view.horizontalScrollBar().maximum() == 0
