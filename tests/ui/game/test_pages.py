"""Windows and dialogs as pages: the way there and back, headings, where the keyboard is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QInputDialog, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from tests.ui.game.conftest import Page, Stage
from ui.shell.dialogs import show_dialog
from ui.shell.pages import pages_of


def test_a_page_covers_the_chat_and_leaves_the_keyboard_where_it_was(stage: Stage) -> None:
    stage.find("second").setFocus()
    page = Page("Memory")
    stage.pages.show_page(page)
    page.button.setFocus()
    assert stage.shows("Memory")
    assert not stage.shows("second")
    assert not page.isWindow()
    title = stage.find("pageTitle")
    assert isinstance(title, QLabel)
    assert title.text() == "Memory"
    stage.press(Qt.Key.Key_Escape)
    assert stage.pages.top is None
    assert stage.focus() == "second"


@pytest.mark.parametrize("way", ["button", "close", "hide"])
def test_all_ways_back(stage: Stage, way: str) -> None:
    stage.find("first").setFocus()
    page = Page("Memory")
    stage.pages.show_page(page)
    if way == "button":
        stage.click("pageBack")
    elif way == "close":
        page.close()
    else:
        page.hide()
    assert stage.shows("first")
    assert stage.focus() == "first"
    stage.pages.show_page(page)
    assert stage.shows("Memory")


def test_pages_over_pages_come_off_one_by_one(stage: Stage) -> None:
    bench, models = Page("Benchmark"), Page("Models")
    stage.pages.show_page(bench)
    bench.button.setFocus()
    stage.pages.show_page(models)
    models.button.setFocus()
    assert not bench.isVisible()
    stage.press(Qt.Key.Key_Escape)
    assert stage.pages.top is bench
    assert stage.focus() == "Benchmark-button"
    stage.pages.show_page(models)
    stage.pages.show_page(bench)
    assert stage.pages.top is bench
    stage.press(Qt.Key.Key_Escape)
    assert stage.pages.top is None


def test_to_the_chat_from_any_depth_closes_all(stage: Stage) -> None:
    stage.find("second").setFocus()
    pages = [Page("one"), Page("two")]
    for page in pages:
        stage.pages.show_page(page)
    stage.pages.to_chat()
    assert stage.pages.top is None
    assert stage.focus() == "second"
    assert all(page.isHidden() for page in pages)


def test_a_page_that_is_closed_under_another_takes_it_along(stage: Stage) -> None:
    below, above = Page("below"), Page("above")
    stage.pages.show_page(below)
    stage.pages.show_page(above)
    below.close()
    assert stage.pages.top is None
    assert above.isHidden()


class Stubborn(Page):
    """Refuses to be closed once."""

    asked = 0

    def closeEvent(self, event: object) -> None:
        self.asked += 1
        if self.asked == 1:
            event.ignore()  # type: ignore[attr-defined]


def test_a_page_may_refuse_to_go(stage: Stage) -> None:
    page = Stubborn("Stubborn")
    stage.pages.show_page(page)
    stage.pages.back()
    assert stage.pages.top is page
    stage.pages.back()
    assert stage.pages.top is None


def test_dialogs_are_pages_and_end_as_dialogs_do(stage: Stage) -> None:
    stage.find("first").setFocus()
    named: list[str] = []
    dialog = QInputDialog(stage.find("first"))
    dialog.setObjectName("presetName")
    dialog.setWindowTitle("Preset")
    dialog.setLabelText("Name of the preset")
    dialog.textValueSelected.connect(named.append)
    dialog.finished.connect(dialog.deleteLater)
    show_dialog(dialog)
    assert stage.shows("presetName")
    field: QLineEdit | None = dialog.findChild(QLineEdit)
    assert field is not None
    assert field.hasFocus()
    stage.qtbot.keyClicks(field, "Tales")
    stage.press(Qt.Key.Key_Return)
    assert named == ["Tales"]
    assert stage.pages.top is None
    assert stage.focus() == "first"
    stage.until(lambda: not stage.window.findChildren(QInputDialog))
    assert len(stage.window.findChildren(QWidget, "pageFrame")) == 0


def test_escape_rejects_a_dialog_once(stage: Stage) -> None:
    ends: list[int] = []
    dialog = QDialog(stage.find("first"))
    QVBoxLayout(dialog).addWidget(QPushButton("Load"))
    dialog.finished.connect(ends.append)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    show_dialog(dialog, fill=True)
    stage.press(Qt.Key.Key_Escape)
    assert ends == [0]
    assert stage.pages.top is None


def test_on_a_desktop_dialogs_are_windows(qtbot: object) -> None:
    window = QWidget()
    dialog = QDialog(window)
    window.show()
    assert pages_of(window) is None
    show_dialog(dialog)
    assert dialog.isWindow()
    assert dialog.isVisible()
    dialog.close()
    window.close()
