"""The list of conversations: keyboard, mouse and menu; what they mean is decided by the sidebar."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QToolTip, QWidget

from app.chat.conversation_list import ConversationListModel
from app.chat.side_list import SideListModel
from app.chat.side_rows import SideRow
from engine.chat.records import Conversation
from ui.chat.conversation_delegate import ConversationDelegate, Index, tooltip_of
from ui.theme import Theme

SEVERAL = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
"""Keys that select more rows and go nowhere."""
BATCH = 200
"""Rows laid out at once; thousands of conversations must not hold up the window."""


FillMenu = Callable[[QMenu, list[SideRow], Callable[[], None]], QAction | None]
"""Fills a menu for rows; the last one begins to rename the row. Returns the first action."""


class ConversationView(QListView):
    """Rows of `SideListModel`: conversations, and folders that fold. Several can be selected, and dragged.

    Attributes:
        chosen: Id of the conversation the user went to.
        delete_wanted: Ids of the conversations to delete.
        renamed: Id and new title; `folder_renamed` of a folder.
        fold_wanted: Id of a folder, and whether what is in it should be hidden.
        typed: Text typed while the list had the focus; it belongs into the composer.
        fill_menu: See `FillMenu`.
    """

    chosen = Signal(str)
    delete_wanted = Signal(object)
    renamed = Signal(str, str)
    folder_renamed = Signal(str, str)
    fold_wanted = Signal(str, bool)
    typed = Signal(str)

    def __init__(self, conversations: SideListModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self.fill_menu: FillMenu = lambda _menu, _rows, _rename: None
        self.setModel(conversations)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setAutoScroll(True)
        self.setObjectName("conversationList")
        self.setAccessibleName(self.tr("Conversations"))
        self.setProperty("role", "bare")
        self._theme = theme
        self._delegate = ConversationDelegate(theme, self)
        self._delegate.renamed.connect(self.renamed)
        self._delegate.folder_renamed.connect(self.folder_renamed)
        self.setItemDelegate(self._delegate)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(BATCH)
        self._scrolled = 0
        self._selecting = self._menu_open = False
        self.verticalScrollBar().rangeChanged.connect(self._scroll_back)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def id_at(self, index: Index) -> str:
        """Id of the conversation in a row."""
        return str(index.data(ConversationListModel.Role.ID))

    def row_of(self, index: Index) -> SideRow | None:
        """What a row is."""
        row = index.data(SideListModel.Role.ROW)
        return row if isinstance(row, SideRow) else None

    def mark(self, conversation: str | None) -> None:
        """Make the row of the open conversation the current one, without choosing it again; not while the keyboard is
        on a folder.
        """
        row = self.row_of(self.currentIndex())
        if row is not None and row.conversation is None and self.hasFocus():
            return
        at = self._conversations.position(conversation)
        if at is not None:
            index = self._conversations.index(at, 0)
            if index != self.currentIndex():
                self.setCurrentIndex(index)
        else:
            self.setCurrentIndex(QModelIndex())
            self.clearSelection()

    def selected_conversations(self) -> list[Conversation]:
        """Those that are selected, from top to bottom."""
        rows = [self.row_of(index) for index in sorted(self.selectedIndexes(), key=lambda index: index.row())]
        return [row.conversation for row in rows if row is not None and row.conversation is not None]

    def edit_folder(self, folder: str) -> None:
        """Let the title of a folder be typed."""
        for at, row in enumerate(self._conversations.rows):
            if row.conversation is None and row.folder is not None and row.folder.id == folder:
                self.setFocus(Qt.FocusReason.OtherFocusReason)
                self.setCurrentIndex(self._conversations.index(at, 0))
                self.edit(self._conversations.index(at, 0))

    def doItemsLayout(self) -> None:
        """The first batch alone is too short for a list that was scrolled down: remember where that was."""
        self._scrolled = max(self._scrolled, self.verticalScrollBar().value())
        super().doItemsLayout()

    def ids(self) -> list[str]:
        """Ids of all conversations that are listed, from top to bottom."""
        return [row.conversation.id for row in self._conversations.rows if row.conversation is not None]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete removes, Enter chooses or folds, Left and Right fold; the rest is the list's own."""
        row = self.row_of(self.currentIndex())
        if event.key() == Qt.Key.Key_Delete and (selected := self.selected_conversations()):
            self.delete_wanted.emit([one.id for one in selected])
        elif row is None or not self._use_key(event.key(), row):
            super().keyPressEvent(event)

    def _use_key(self, key: int, row: SideRow) -> bool:
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if row.conversation is not None:
            if enter:
                self.chosen.emit(row.conversation.id)
            return enter
        if row.folder is None or not (enter or key in (Qt.Key.Key_Left, Qt.Key.Key_Right)):
            return False
        self.fold_wanted.emit(row.folder.id, not row.folder.folded if enter else key == Qt.Key.Key_Left)
        return True

    def keyboardSearch(self, search: str) -> None:
        """Typing does not search: it goes on where messages are written."""
        self.typed.emit(search)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Arrow keys and clicks go to a conversation."""
        super().currentChanged(current, previous)
        row = self.row_of(current) if current.isValid() and not self._selecting else None
        if row is not None and row.conversation is not None and (self.hasFocus() or self.underMouse()):
            self.chosen.emit(row.conversation.id)

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
        left = event.button() == Qt.MouseButton.LeftButton
        self._selecting = bool(event.modifiers() & SEVERAL) or (not left and index in self.selectedIndexes())
        super().mousePressEvent(event)
        self._selecting = False
        if index.isValid() and left and self._delegate.menu_target(self.visualRect(index), index).contains(point):
            self.open_menu(index, self.viewport().mapToGlobal(point))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a folder folds it."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = self.row_of(index) if index.isValid() else None
        plain = event.button() == Qt.MouseButton.LeftButton and not event.modifiers() & SEVERAL
        if plain and row is not None and row.conversation is None and row.folder is not None and not self._menu_open:
            self.fold_wanted.emit(row.folder.id, not row.folder.folded)

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
        """What can be done with one row, or with all that are selected."""
        row = self.row_of(index)
        if row is None:
            return
        selected = [self.row_of(one) for one in sorted(self.selectedIndexes(), key=lambda one: one.row())]
        rows = [one for one in selected if one is not None]
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.aboutToHide.connect(self._menu_closed)
        first = self.fill_menu(menu, rows if row in rows else [row], lambda: self.edit(index))
        self._menu_open = True
        menu.popup(place)
        if first is not None:
            menu.setActiveAction(first)

    def _menu_closed(self) -> None:
        self._menu_open = False

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
