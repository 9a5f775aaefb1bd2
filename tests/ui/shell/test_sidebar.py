"""The list of conversations by keyboard and mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.chat.conversation_list import ConversationListModel
from app.notices import Notice, Notices
from tests.ui.shell.standins import FakeChat
from ui.chat.conversation_delegate import tooltip_of
from ui.chat.conversation_view import ConversationView
from ui.chat.sidebar import DELETED_NOTICE, Sidebar
from ui.theme import TARGET_SIZE, Theme

DAY = 86_400.0


class Shown:
    """The sidebar in a window, and what came out of it."""

    def __init__(
        self, sidebar: Sidebar, chat: FakeChat, notices: Notices, posted: list[Notice], composing: list[str]
    ) -> None:
        self.sidebar, self.chat, self.notices, self.posted, self.composing = sidebar, chat, notices, posted, composing
        found = sidebar.findChild(ConversationView, "conversationList")
        assert isinstance(found, ConversationView)
        self.list = found

    def titles(self) -> list[str]:
        return [row.title for row in self.chat.conversations.rows]

    def current(self) -> str:
        return str(self.list.currentIndex().data() or "")

    def row_centre(self, row: int) -> QPoint:
        index = self.list.model().index(row, 0)
        body = self.list._delegate.body(self.list.visualRect(index), index)
        return body.center()


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Iterator[Shown]:
    chat, notices = FakeChat(), Notices()
    QAbstractItemModelTester(
        chat.conversations, QAbstractItemModelTester.FailureReportingMode.Fatal, chat.conversations
    )
    posted: list[Notice] = []
    composing: list[str] = []
    notices.posted.connect(posted.append)
    sidebar = Sidebar(chat, notices, theme)  # type: ignore[arg-type]
    sidebar.composing_wanted.connect(composing.append)
    qtbot.addWidget(sidebar)
    chat.fill("One", "Two", "Three", "Four")
    sidebar.resize(260, 600)
    sidebar.show()
    sidebar.activateWindow()
    qtbot.waitUntil(sidebar.isActiveWindow)
    yield Shown(sidebar, chat, notices, posted, composing)
    sidebar.close()


def test_a_click_opens_and_keeps_the_focus_in_the_list(shown: Shown, qtbot: QtBot) -> None:
    qtbot.mouseClick(shown.list.viewport(), Qt.MouseButton.LeftButton, pos=shown.row_centre(1))
    assert shown.chat.named("open") == [("open", "1")]
    assert shown.list.hasFocus()
    assert shown.current() == "Two"


def test_arrow_keys_walk_through_conversations(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("0")
    shown.list.setFocus()
    shown.chat.calls.clear()
    qtbot.keyClick(shown.list, Qt.Key.Key_Down)
    qtbot.keyClick(shown.list, Qt.Key.Key_Down)
    qtbot.keyClick(shown.list, Qt.Key.Key_Up)
    assert shown.chat.calls == [("open", "1"), ("open", "2"), ("open", "1")]


def test_the_open_conversation_is_marked_wherever_it_moves(shown: Shown) -> None:
    shown.chat.open("2")
    assert shown.current() == "Three"
    found = shown.chat.conversations.find("2")
    assert found is not None
    shown.chat.rename("2", "Renamed")
    assert shown.current() == "Renamed"
    shown.chat.new_conversation()
    assert shown.current() == ""


def test_delete_offers_undo_and_moves_on(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert shown.titles() == ["One", "Three", "Four"]
    assert shown.current() == "Three"
    assert shown.list.hasFocus()
    (notice,) = shown.posted
    assert notice.text == "Deleted “Two”."
    notice.actions[0].run()
    assert "Two" in shown.titles()


def test_one_undo_for_several_deleted_quickly(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    for _ in range(3):
        qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert shown.titles() == ["One"]
    assert {notice.key for notice in shown.posted} == {DELETED_NOTICE}
    assert [notice.text for notice in shown.posted[1:]] == ["Deleted 2 conversations.", "Deleted 3 conversations."]
    shown.posted[-1].actions[0].run()
    assert shown.titles() == ["One", "Two", "Three", "Four"]
    assert shown.chat.named("undo") == [("undo", "3"), ("undo", "2"), ("undo", "1")]


def test_a_closed_undo_is_not_offered_again(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    shown.notices.closed.emit("another")
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    shown.notices.closed.emit(DELETED_NOTICE)
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert [notice.text for notice in shown.posted[1:]] == ["Deleted 2 conversations.", "Deleted “Four”."]
    shown.posted[-1].actions[0].run()
    assert shown.titles() == ["One", "Four"]


def test_deleting_the_last_row_goes_up_and_the_only_one_to_the_composer(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("3")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert shown.current() == "Three"
    for _ in range(3):
        qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert shown.titles() == []
    assert shown.composing == [""]


def test_rename_in_place(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_F2)
    edit = shown.list.findChild(QLineEdit)
    assert isinstance(edit, QLineEdit)
    assert (edit.selectedText(), edit.cursorPosition()) == ("Two", 0)
    edit.setText("  A new   title ")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(shown.chat.named("rename")))
    assert shown.chat.named("rename") == [("rename", "1", "A new title")]
    qtbot.waitUntil(shown.list.hasFocus)


@pytest.mark.parametrize("text", ["Two", "", "   "])
def test_an_unchanged_or_empty_title_is_no_rename(shown: Shown, qtbot: QtBot, text: str) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_F2)
    edit = shown.list.findChild(QLineEdit)
    assert isinstance(edit, QLineEdit)
    edit.setText(text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(shown.list.hasFocus)
    assert shown.chat.named("rename") == []


def test_escape_gives_the_title_up(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_F2)
    edit = shown.list.findChild(QLineEdit)
    assert isinstance(edit, QLineEdit)
    edit.setText("Other")
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(shown.list.hasFocus)
    assert shown.chat.named("rename") == []


def test_typing_goes_to_the_composer(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("0")
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_H)
    assert shown.composing == ["h"]


def menu_of(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_the_menu_key_opens_rename_and_delete(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.open("1")
    shown.list.setFocus()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), QPoint(1, 1))
    QApplication.sendEvent(shown.list.viewport(), event)
    menu = menu_of(qtbot)
    texts = [a.text().split("\t")[0] for a in menu.actions() if not a.isSeparator()]
    assert texts == ["Rename", "Pin to the top", "Move to folder", "Archive", "Export", "Delete"]
    qtbot.keyClick(menu, Qt.Key.Key_Up)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert shown.chat.named("delete") == [("delete", "1")]


def test_the_dots_open_the_menu(shown: Shown, qtbot: QtBot) -> None:
    index = shown.list.model().index(2, 0)
    target = shown.list._delegate.menu_target(shown.list.visualRect(index), index)
    assert min(target.width(), target.height()) >= TARGET_SIZE
    qtbot.mouseClick(shown.list.viewport(), Qt.MouseButton.LeftButton, pos=target.center())
    menu = menu_of(qtbot)
    menu.actions()[-1].trigger()
    menu.close()
    assert shown.chat.named("delete") == [("delete", "2")]


def test_groups_have_headings_that_are_no_rows(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.fill("a", "b", "c", step=DAY)
    shown.list.doItemsLayout()
    heights = [shown.list.visualRect(shown.list.model().index(row, 0)).height() for row in range(3)]
    assert heights[0] == heights[1] == heights[2] > TARGET_SIZE
    rect = shown.list.visualRect(shown.list.model().index(1, 0))
    shown.chat.calls.clear()
    qtbot.mouseClick(shown.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.topLeft() + QPoint(60, 8))
    assert shown.chat.calls == []


def test_titles_stay_one_line_of_plain_text(shown: Shown) -> None:
    shown.chat.fill("first\nsecond\nthird", "<b>x</b>", "\u202eabc", "👨‍👩‍👧" * 60)
    shown.list.doItemsLayout()
    heights = {shown.list.visualRect(shown.list.model().index(row, 0)).height() for row in range(1, 4)}
    assert len(heights) == 1
    assert not shown.list.grab().isNull()


def test_thousands_of_conversations_are_listed_in_batches(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.fill(*(f"Conversation {i}" for i in range(10_000)), step=1.0)
    shown.chat.open("9999")
    qtbot.waitUntil(lambda: shown.current() == "Conversation 9999")


def test_a_long_list_stays_where_it_was_scrolled_to(shown: Shown, qtbot: QtBot) -> None:
    shown.chat.fill(*(f"Chat {number}" for number in range(1000)))
    bar = shown.list.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000 * TARGET_SIZE - shown.list.height() - TARGET_SIZE)
    bar.setValue(bar.maximum() * 3 // 4)
    before, end = bar.value(), bar.maximum()
    shown.chat.conversations.remove(shown.list.ids()[990])
    qtbot.waitUntil(lambda: end - 2 * TARGET_SIZE < bar.maximum() < end)
    assert bar.value() == before
    bar.setValue(bar.maximum())
    for gone in shown.list.ids()[-3:]:
        shown.chat.conversations.remove(gone)
    qtbot.waitUntil(lambda: end - 6 * TARGET_SIZE < bar.maximum() < end - 3 * TARGET_SIZE)
    assert bar.value() == bar.maximum()


def test_without_conversations_a_sentence_stands_there(shown: Shown) -> None:
    shown.chat.fill()
    assert not shown.list.isVisible()
    shown.chat.fill("One")
    assert shown.list.isVisible()


def test_new_chat_goes_on_in_the_composer(shown: Shown, qtbot: QtBot) -> None:
    button = shown.sidebar.findChild(QPushButton, "newChatButton")
    assert isinstance(button, QPushButton)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown.chat.calls == [("new",)]
    assert shown.composing == [""]


def test_where_an_answer_is_written_is_seen_told_and_spoken(shown: Shown) -> None:
    index = shown.list.model().index(1, 0)

    def picture() -> QImage:
        return shown.list.grab(shown.list.visualRect(index)).toImage()

    before, title = picture(), index.data()
    shown.chat.conversations.set_answering(frozenset({str(index.data(ConversationListModel.Role.ID))}))
    assert picture() != before
    assert "An answer is being written." in tooltip_of(index)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == f"{title}, an answer is being written"
    shown.chat.conversations.set_answering(frozenset())
    assert picture() == before
    assert "An answer" not in tooltip_of(index)
