"""Paints the rows of the list of conversations, with the heading of a group above its first row."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chat.conversation_list import ConversationListModel
from app.chat.side_list import SideListModel
from ui.chat.folder_paint import INDENT, paint_folder
from ui.theme import ICON_SIZE, RADIUS, SPACE_M, SPACE_S, SPACE_XS, TARGET_SIZE, Theme
from ui.theming import icons
from ui.widgets.elided_label import plain_tooltip

GROUP_HEIGHT = 34
Index = QModelIndex | QPersistentModelIndex


def group_of(index: Index) -> str:
    """Heading above the row: its group, when the row before belongs to another one."""
    heading = index.data(SideListModel.Role.HEADING)
    if heading is not None:
        return str(heading)
    group = str(index.data(ConversationListModel.Role.GROUP) or "")
    if index.row() == 0:
        return group
    above = index.model().index(index.row() - 1, 0)
    return "" if above.data(ConversationListModel.Role.GROUP) == group else group


class TitleEdit(QLineEdit):
    """The editor of a title. Keeps Escape for itself, so that it does not stop an answer."""

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the whole title selected and the cursor before it: its beginning is what is seen."""
        super().showEvent(event)
        self.setSelection(len(self.text()), -len(self.text()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter is for the title, not for the row below it."""
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()

    def event(self, event: QEvent) -> bool:
        """Claim Escape before any shortcut sees it."""
        override = event if event.type() is QEvent.Type.ShortcutOverride else None
        if isinstance(override, QKeyEvent) and override.key() == Qt.Key.Key_Escape:
            override.accept()
            return True
        return super().event(event)


class ConversationDelegate(QStyledItemDelegate):
    """One line for each title: elided, never more than one row high, never markup.

    Attributes:
        renamed: Conversation id and the title that was typed.
        folder_renamed: The same of a folder.
    """

    renamed = Signal(str, str)
    folder_renamed = Signal(str, str)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.hovered_row = -1

    def row_height(self) -> int:
        """Height of a row without heading."""
        return self._theme.px(TARGET_SIZE)

    def body(self, rect: QRect, index: Index) -> QRect:
        """The part of an item's ``rect`` below its heading."""
        return rect.adjusted(0, self._theme.px(GROUP_HEIGHT), 0, 0) if group_of(index) else rect

    def menu_target(self, rect: QRect, index: Index) -> QRect:
        """Where the "..." of a row can be pressed."""
        body = self.body(rect, index)
        return QRect(body.right() - body.height() + 1, body.top(), body.height(), body.height())

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Constant height, more for the first row of a group."""
        extra = self._theme.px(GROUP_HEIGHT) if group_of(index) else 0
        return QSize(0, self.row_height() + extra)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Heading, background, title, menu dots, the mark of an answer that is written, focus ring."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        self._paint_heading(painter, rect, group_of(index))
        body = self.body(rect, index).adjusted(SPACE_S, 1, -SPACE_S, -1)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = index.row() == self.hovered_row
        self._paint_body(painter, body, selected, hovered, bool(state & QStyle.StateFlag.State_HasFocus))
        indent = self._theme.px(INDENT) if index.data(SideListModel.Role.INSIDE) else 0
        text = body.adjusted(SPACE_S + SPACE_XS + indent, 0, -SPACE_S, 0)
        if selected or hovered:
            dots = self.menu_target(rect, index)
            text.setRight(dots.left() - SPACE_XS)
            self._paint_dots(painter, dots)
        if index.data(ConversationListModel.Role.ANSWERING):
            text.setRight(self._paint_answering(painter, text) - SPACE_S)
        title = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        if index.data(SideListModel.Role.IS_FOLDER):
            size, folded = int(index.data(SideListModel.Role.COUNT)), bool(index.data(SideListModel.Role.FOLDED))
            paint_folder(painter, self._theme, text, title, size, folded=folded)
        else:
            self._paint_title(painter, text, title)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """A line edit over the title."""
        edit = TitleEdit(parent)
        edit.setAccessibleName(self.tr("Title of the conversation"))
        edit.setMaxLength(200)
        return edit

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Begin with the title as it is."""
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.DisplayRole) or ""))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Report the new title; the owner of the conversations decides."""
        if isinstance(editor, QLineEdit):
            title = " ".join(editor.text().split())
            if title and title != index.data(Qt.ItemDataRole.DisplayRole):
                told = self.folder_renamed if index.data(SideListModel.Role.IS_FOLDER) else self.renamed
                told.emit(str(index.data(ConversationListModel.Role.ID)), title)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Cover the row, not the heading."""
        rect: QRect = option.rect
        editor.setGeometry(self.body(rect, index).adjusted(SPACE_S - 2, 0, -SPACE_S + 2, 0))

    def _paint_heading(self, painter: QPainter, rect: QRect, group: str) -> None:
        if not group:
            return
        heading = QRect(rect.left(), rect.top(), rect.width(), self._theme.px(GROUP_HEIGHT))
        painter.setFont(self._theme.font(0.86, bold=True))
        painter.setPen(QColor(self._theme.tokens.muted))
        room = heading.adjusted(SPACE_S + SPACE_M, SPACE_S, -SPACE_S, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, group)

    def _paint_body(self, painter: QPainter, body: QRect, selected: bool, hovered: bool, focused: bool) -> None:
        tokens = self._theme.tokens
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if selected else tokens.hover))
            painter.drawRoundedRect(body, RADIUS, RADIUS)
        if focused:
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(1, 1, -1, -1), RADIUS, RADIUS)

    def _paint_dots(self, painter: QPainter, target: QRect) -> None:
        size = self._theme.px(ICON_SIZE)
        box = QRect(0, 0, size, size)
        box.moveCenter(target.center())
        icons.draw(painter, self._theme.icon_path("dots-three"), box.toRectF(), QColor(self._theme.tokens.text))

    def _paint_answering(self, painter: QPainter, room: QRect) -> int:
        """A speech bubble with dots at the end of ``room``; where it begins."""
        size = self._theme.px(ICON_SIZE)
        box = QRect(room.right() - size + 1, 0, size, size)
        box.moveCenter(QPoint(box.center().x(), room.center().y()))
        icons.draw(painter, self._theme.icon_path("chat-circle-dots"), box.toRectF(), QColor(self._theme.tokens.accent))
        return box.left()

    def _paint_title(self, painter: QPainter, room: QRect, title: str) -> None:
        painter.setFont(self._theme.font())
        painter.setPen(QColor(self._theme.tokens.text))
        line = painter.fontMetrics().elidedText(" ".join(title.split()), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), line)


def tooltip_of(index: Index) -> str:
    """The whole title, never taken for markup, and whether an answer is written there."""
    title = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
    if index.data(ConversationListModel.Role.ANSWERING):
        said = QCoreApplication.translate("ConversationDelegate", "An answer is being written.")
        return plain_tooltip(f"{title}\n{said}")
    return plain_tooltip(title)
