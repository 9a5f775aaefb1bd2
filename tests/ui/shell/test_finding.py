"""Search, folders, pins, archive and several rows at once in the sidebar, over the real chat and store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.chat.side_list import SideListModel
from app.notices import Notice
from tests.app.chat.conftest import Chat
from ui.chat.conversation_view import ConversationView
from ui.chat.results_view import ResultsView, elided_from, short_time
from ui.chat.row_commands import ARCHIVED_NOTICE
from ui.chat.search_field import SearchField
from ui.chat.sidebar import Sidebar
from ui.theme import Theme


class Side:
    """The sidebar over a chat whose database is cranked by hand."""

    def __init__(self, chat: Chat, sidebar: Sidebar, qtbot: QtBot) -> None:
        self.chat, self.sidebar, self.qtbot = chat, sidebar, qtbot
        shown = sidebar.findChild(ConversationView, "conversationList")
        field = sidebar.findChild(SearchField, "conversationSearch")
        results = sidebar.findChild(ResultsView, "searchResults")
        assert shown is not None
        assert field is not None
        assert results is not None
        self.list: ConversationView = shown
        self.field: SearchField = field
        self.results: ResultsView = results

    @property
    def rows(self) -> SideListModel:
        return self.chat.controller.keeping.rows

    def shown(self) -> list[str]:
        return [str(self.rows.index(row, 0).data()) for row in range(self.rows.rowCount())]

    def drained(self) -> list[str]:
        self.chat.database.drain()
        return self.shown()

    def select(self, *rows: int) -> None:
        self.list.selectionModel().clear()
        for row in rows:
            index = self.rows.index(row, 0)
            self.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)

    def menu(self, row: int) -> QMenu:
        index = self.rows.index(row, 0)
        self.list.open_menu(index, self.list.viewport().mapToGlobal(self.list.visualRect(index).center()))
        found = [menu for menu in self.list.findChildren(QMenu) if menu.isVisible()]
        return found[-1]

    def press(self, menu: QMenu, text: str) -> None:
        """Trigger an entry of a menu, also of one below it."""
        below = [action.menu() for action in menu.actions()]
        menus = [menu, *(one for one in below if isinstance(one, QMenu))]
        for one in menus:
            for action in one.actions():
                if action.text().split("\t")[0] == text:
                    action.trigger()
                    menu.close()
                    self.chat.database.drain()
                    return
        raise AssertionError(f"no entry {text}: {[a.text() for one in menus for a in one.actions()]}")

    def search(self, text: str) -> None:
        self.field.setText(text)
        self.qtbot.waitUntil(lambda: self.chat.controller.keeping.search.query == text.strip(), timeout=60_000)
        self.chat.database.drain()


@pytest.fixture
def chat(qtbot: QtBot, tmp_path: Path) -> Iterator[Chat]:
    world = Chat(tmp_path)
    world.start()
    yield world
    world.controller.close(lambda: None)
    world.database.drain()


@pytest.fixture
def side(qtbot: QtBot, chat: Chat, theme: Theme) -> Iterator[Side]:
    for name in ("one", "two", "three"):
        chat.controller.new_conversation()
        chat.say(f"question {name}", f"the answer of {name} about memory")
    sidebar = Sidebar(chat.controller, chat.notices, theme)
    qtbot.addWidget(sidebar)
    sidebar.resize(260, 600)
    sidebar.show()
    sidebar.activateWindow()
    qtbot.waitUntil(sidebar.isActiveWindow)
    yield Side(chat, sidebar, qtbot)
    sidebar.close()


def test_results_take_the_place_of_the_list_and_give_it_back(side: Side) -> None:
    side.search("memory")
    assert side.results.isVisible()
    assert not side.list.isVisible()
    assert side.results.model().rowCount() == 3
    side.qtbot.keyClick(side.field, Qt.Key.Key_Down)
    assert side.results.hasFocus()
    side.qtbot.keyClick(side.results, Qt.Key.Key_Down)
    side.qtbot.keyClick(side.results, Qt.Key.Key_Return)
    side.chat.database.drain()
    assert side.chat.shown[0] == "question two"
    side.qtbot.keyClick(side.results, Qt.Key.Key_Escape)
    assert side.field.hasFocus()
    side.qtbot.keyClick(side.field, Qt.Key.Key_Escape)
    assert side.list.isVisible()
    assert not side.results.isVisible()


def test_nothing_found_is_said(side: Side) -> None:
    side.search("zzz")
    assert not side.results.isVisible()
    assert side.sidebar._empty.isVisible()
    assert "othing was found" in side.sidebar._empty.text()


def test_results_are_painted_without_trouble(side: Side) -> None:
    side.search("memory")
    assert not side.results.grab().isNull()


def test_a_title_that_is_too_long_ends_in_an_ellipsis(theme: Theme) -> None:
    metrics = QFontMetrics(theme.font(1.0))
    title = "😀 " + "a very long title " * 20
    start = 3
    cut = elided_from(title, start, metrics, 200)
    assert cut.startswith("😀 a very")
    assert cut.endswith("…")
    assert metrics.horizontalAdvance(cut[2:]) <= 200
    assert elided_from("😀 short", start, metrics, 200) == "😀 short"


def test_several_conversations_can_be_exported_as_one_file_each(side: Side) -> None:
    side.select(0, 1)
    below = [menu for action in side.menu(0).actions() if isinstance(menu := action.menu(), QMenu)]
    texts = [action.text() for menu in below for action in menu.actions() if action.text().startswith("Zip")]
    assert texts == ["Zip of Markdown files", "Zip of web pages", "Zip of text files", "Zip of JSON files"]


def test_pin_folder_archive_by_the_menu(side: Side) -> None:
    side.press(side.menu(2), "Pin to the top")
    assert side.shown() == ["question one", "question three", "question two"]
    side.press(side.menu(1), "New folder")
    editor = side.list.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    side.qtbot.keyClicks(editor, "Work")
    side.qtbot.keyClick(editor, Qt.Key.Key_Return)
    wanted = ["question one", "Work", "question three", "question two"]
    side.qtbot.waitUntil(lambda: side.drained() == wanted, timeout=60_000)
    side.press(side.menu(3), "Archive")
    assert side.shown() == ["question one", "Work", "question three"]
    notice: Notice = side.chat.posted[-1]
    assert notice.key == ARCHIVED_NOTICE
    notice.actions[0].run()
    side.chat.database.drain()
    assert side.shown() == ["question one", "Work", "question three", "question two"]


def test_a_folder_folds_by_click_and_by_keys(side: Side) -> None:
    side.chat.controller.keeping.arrangement.make_folder("Work", [side.chat.controller.conversations.rows[0].id])
    side.chat.database.drain()
    assert side.shown() == ["Work", "question three", "question two", "question one"]
    index = side.rows.index(0, 0)
    place = side.list._delegate.body(side.list.visualRect(index), index).center()
    side.qtbot.mouseClick(side.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    side.chat.database.drain()
    assert side.shown() == ["Work", "question two", "question one"]
    side.list.setCurrentIndex(side.rows.index(0, 0))
    side.qtbot.keyClick(side.list, Qt.Key.Key_Right)
    side.chat.database.drain()
    assert side.shown()[1] == "question three"
    side.qtbot.keyClick(side.list, Qt.Key.Key_Left)
    side.chat.database.drain()
    assert len(side.shown()) == 3
    side.press(side.menu(0), "Remove the folder")
    assert side.shown() == ["question three", "question two", "question one"]


def test_the_archive_is_behind_a_button(side: Side) -> None:
    assert not side.sidebar._archive.isVisible()
    side.press(side.menu(0), "Archive")
    assert side.sidebar._archive.text() == "Archive (1)"
    side.qtbot.mouseClick(side.sidebar._archive, Qt.MouseButton.LeftButton)
    assert side.shown() == ["question three"]
    side.press(side.menu(0), "Take out of the archive")
    assert side.shown() == ["question three", "question two", "question one"]
    assert not side.sidebar._archive.isVisible()


def test_several_at_once(side: Side) -> None:
    side.select(0, 2)
    side.press(side.menu(0), "Pin to the top")
    assert side.shown()[:2] == ["question three", "question one"]
    side.select(0, 1)
    side.list.setFocus()
    side.qtbot.keyClick(side.list, Qt.Key.Key_Delete)
    side.chat.database.drain()
    assert side.shown() == ["question two"]
    side.chat.posted[-1].actions[0].run()
    side.chat.database.drain()
    assert len(side.shown()) == 3


def test_selecting_more_rows_goes_nowhere(side: Side) -> None:
    side.chat.controller.open(side.chat.controller.conversations.rows[0].id)
    side.chat.database.drain()
    here = side.chat.current
    side.select(0)
    index = side.rows.index(2, 0)
    place = side.list._delegate.body(side.list.visualRect(index), index).center()
    side.qtbot.mouseClick(side.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    assert side.chat.current == here
    assert len(side.list.selected_conversations()) == 2


def test_a_temporary_chat_is_marked(side: Side) -> None:
    side.qtbot.mouseClick(side.sidebar._temporary, Qt.MouseButton.LeftButton)
    assert side.sidebar._temporary.isChecked()
    side.chat.say("secret", "answer")
    assert side.shown()[0] == "secret"
    menu = side.menu(0)
    assert [action.text().split("\t")[0] for action in menu.actions() if not action.isSeparator()] == [
        "Rename",
        "Delete",
    ]
    menu.close()
    side.qtbot.mouseClick(side.sidebar._new, Qt.MouseButton.LeftButton)
    assert not side.sidebar._temporary.isChecked()


def test_export_of_the_selected_ones(side: Side, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "two.json"
    exporting = side.sidebar.commands._exporting
    ids = [row.id for row in side.chat.controller.conversations.rows[:2]]
    exporting._export(ids, path, exporting._formats()[3][0], False)
    side.chat.database.drain()
    assert [one["title"] for one in json.loads(path.read_text())["conversations"]] == ["question three", "question two"]
    assert "2 conversations" in side.chat.posted[-1].text
    exporting.take([path])  # a process of its own reads it
    qtbot.waitUntil(lambda: "2 were there already" in side.chat.posted[-1].text)


def test_times_are_short(qtbot: QtBot) -> None:
    from PySide6.QtCore import QDate, QDateTime, QTime

    today = QDate(2026, 11, 30)
    at = QDateTime(today, QTime(9, 5)).toSecsSinceEpoch()
    assert "9" in short_time(at, today)
    assert short_time(QDateTime(QDate(2026, 3, 2), QTime(9, 5)).toSecsSinceEpoch(), today).startswith("2 ")
    assert "2020" in short_time(QDateTime(QDate(2020, 3, 2), QTime(9, 5)).toSecsSinceEpoch(), today)
