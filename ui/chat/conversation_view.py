"""The list of conversations: keyboard, mouse and menu; what they mean is decided by the sidebar."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QToolTip, QWidget

from app.chat.conversation_list import ConversationListModel
from ui.chat.conversation_delegate import ConversationDelegate, Index, tooltip_of
from ui.theme import Theme

BATCH = 200
"""Rows laid out at once; thousands of conversations must not hold up the window."""


class ConversationView(QListView):
    """Rows of `ConversationListModel`.

    Attributes:
        chosen: Id of the row the user went to.
        delete_wanted: Id of the row to delete.
        renamed: Id and new title.
        typed: Text typed while the list had the focus; it belongs into the composer.
    """

    chosen = Signal(str)
    delete_wanted = Signal(str)
    renamed = Signal(str, str)
    typed = Signal(str)

    def __init__(self, conversations: ConversationListModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self.setModel(conversations)
        self.setObjectName("conversationList")
        self.setAccessibleName(self.tr("Conversations"))
        self.setProperty("role", "bare")
        self._theme = theme
        self._delegate = ConversationDelegate(theme, self)
        self._delegate.renamed.connect(self.renamed)
        self.setItemDelegate(self._delegate)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(BATCH)
        self._scrolled = 0
        self.verticalScrollBar().rangeChanged.connect(self._scroll_back)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def id_at(self, index: Index) -> str:
        """Id of the conversation in a row."""
        return str(index.data(ConversationListModel.Role.ID))

    def mark(self, conversation: str | None) -> None:
        """Make the row of the open conversation the current one, without choosing it again."""
        ids = self.ids()
        if conversation in ids:
            index = self._conversations.index(ids.index(conversation), 0)
            if index != self.currentIndex():
                self.setCurrentIndex(index)
        else:
            self.setCurrentIndex(QModelIndex())
            self.clearSelection()

    def doItemsLayout(self) -> None:
        """The first batch alone is too short for a list that was scrolled down: remember where that was."""
        self._scrolled = max(self._scrolled, self.verticalScrollBar().value())
        super().doItemsLayout()

    def ids(self) -> list[str]:
        """Ids of all rows, from top to bottom."""
        return [row.id for row in self._conversations.rows]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete removes, Enter chooses; the rest is the list's own."""
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Delete and index.isValid():
            self.delete_wanted.emit(self.id_at(index))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.chosen.emit(self.id_at(index))
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Typing does not search: it goes on where messages are written."""
        self.typed.emit(search)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Arrow keys and clicks go to a conversation."""
        super().currentChanged(current, previous)
        if current.isValid() and (self.hasFocus() or self.underMouse()):
            self.chosen.emit(self.id_at(current))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the row under the pointer."""
        self._hover(event.position().toPoint())
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A heading is no row; the dots open the menu."""
        point = event.position().toPoint()
        index = self.indexAt(point)
        if index.isValid() and not self._delegate.body(self.visualRect(index), index).contains(point):
            return
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        if index.isValid() and left and self._delegate.menu_target(self.visualRect(index), index).contains(point):
            self.open_menu(index, self.viewport().mapToGlobal(point))

    def leaveEvent(self, event: QEvent) -> None:
        """No row is under the pointer any more."""
        self._hover(QPoint(-1, -1))
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """By mouse at the pointer, by key below the current row."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.isValid():
            place = event.pos() if by_mouse else self.visualRect(index).center()
            self.open_menu(index, self.viewport().mapToGlobal(place))

    def open_menu(self, index: QModelIndex, place: QPoint) -> None:
        """Rename and Delete for one row."""
        conversation = self.id_at(index)
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        rename = menu.addAction(self._theme.icon("pencil-simple"), self.tr("Rename\tF2"))
        rename.triggered.connect(lambda: self.edit(index))
        delete = menu.addAction(self._theme.icon("trash"), self.tr("Delete\tDel"))
        delete.triggered.connect(lambda: self.delete_wanted.emit(conversation))
        menu.popup(place)
        menu.setActiveAction(rename)

    def viewportEvent(self, event: QEvent) -> bool:
        """The tooltip is the whole title, as plain text."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            if index.isValid():
                QToolTip.showText(event.globalPos(), tooltip_of(index), self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _hover(self, point: QPoint) -> None:
        index = self.indexAt(point)
        row = index.row() if index.isValid() else -1
        if row != self._delegate.hovered_row:
            self._delegate.hovered_row = row
            self.viewport().update()

    def _scroll_back(self, _minimum: int, maximum: int) -> None:
        """Go to where the list was before its rows were laid out again, as soon as that many are."""
        last = self._conversations.index(self._conversations.rowCount() - 1, 0)
        if self._scrolled and (maximum >= self._scrolled or self.visualRect(last).isValid()):
            wanted, self._scrolled = self._scrolled, 0
            self.verticalScrollBar().setValue(min(wanted, maximum))
