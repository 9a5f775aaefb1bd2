"""The folders that hold models, as a list with the room that they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.library.roots import RootInfo
from ui.library.discover.folding import fold
from ui.library.keep import roots_words
from ui.theme import ICON_SIZE, RADIUS, SPACE_S, SPACE_XS, Theme
from ui.theming import icons
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole
ROW_HEIGHT, BAR = 64, 4
MOST = 3
"""Lines of a name."""


class RootsModel(QAbstractListModel):
    """The first row stands for all folders; its record is None."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._roots: tuple[RootInfo, ...] = ()

    def set_roots(self, roots: Sequence[RootInfo]) -> None:
        """Show ``roots``."""
        after = tuple(roots)
        if after == self._roots:
            return
        if [one.id for one in after] == [one.id for one in self._roots]:
            self._roots = after
            self.dataChanged.emit(self.index(0, 0), self.index(len(after), 0))
            return
        self.beginResetModel()
        self._roots = after
        self.endResetModel()

    @property
    def roots(self) -> tuple[RootInfo, ...]:
        """What is shown."""
        return self._roots

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """One more than folders."""
        return 0 if parent.isValid() else len(self._roots) + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, tooltip, what a screen reader says, and the record."""
        if not index.isValid() or not 0 <= index.row() <= len(self._roots):
            return None
        root = self._roots[index.row() - 1] if index.row() else None
        if role == ROW_ROLE:
            return root
        if role == Qt.ItemDataRole.DisplayRole:
            return roots_words.name(root) if root is not None else self.tr("All models")
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(roots_words.tooltip(root)) if root is not None else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(text for text in (str(self.data(index)), *self.lines(root)) if text)
        return None

    def lines(self, root: RootInfo | None) -> tuple[str, str]:
        """What stands below the name: models and bytes, and the room on the drive."""
        if root is not None:
            return roots_words.state(root), roots_words.free(root)
        count = sum(one.models for one in self._roots)
        if not count:
            return self.tr("No models"), ""
        return roots_words.counted(count, sum(one.n_bytes for one in self._roots)), ""


class RootsDelegate(QStyledItemDelegate):
    """Icon, name, what is in it, and a bar of the drive: models, other things, free. Nothing is cut: rows grow."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for the lines that the texts take at this width."""
        title, below = self.texts(index)
        more = self._line(bold=True) * max(0, len(title) - 1) + self._line(bold=False) * max(0, len(below) - 1)
        return QSize(0, self._theme.px(ROW_HEIGHT) + more)

    def texts(self, index: Index) -> tuple[list[str], list[str]]:
        """Name and line below it, in as many lines as they need."""
        model = index.model()
        below = model.lines(index.data(ROW_ROLE))[0] if isinstance(model, RootsModel) else ""
        bold, small = (QFontMetrics(self._font(bold=one)) for one in (True, False))
        return fold(str(index.data()), self.width(), bold, " ", MOST), fold(below, self.width(), small)

    def width(self) -> int:
        """Of the texts."""
        view = self.parent()
        whole = view.viewport().width() if isinstance(view, QAbstractItemView) else 0
        return whole - 2 * (SPACE_XS + SPACE_S) - self._theme.px(ICON_SIZE) - SPACE_S

    def _font(self, *, bold: bool) -> QFont:
        return self._theme.font(1.0 if bold else 0.9, bold=bold)

    def _line(self, *, bold: bool) -> int:
        return QFontMetrics(self._font(bold=bold)).height()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """See the class."""
        root: RootInfo | None = index.data(ROW_ROLE)
        tokens, rect = self._theme.tokens, QRect(option.rect).adjusted(SPACE_XS, 1, -SPACE_XS, -1)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if selected else tokens.hover))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if selected and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        self._paint_inside(painter, rect.adjusted(SPACE_S, SPACE_S, -SPACE_S, -SPACE_S), index, root)
        painter.restore()

    def _paint_inside(self, painter: QPainter, room: QRect, index: Index, root: RootInfo | None) -> None:
        size = self._theme.px(ICON_SIZE)
        away = root is not None and roots_words.is_away(root)
        sign = roots_words.icon(root) if root is not None else "stack"
        tint = QColor(
            self._theme.tokens.warn if away and root is not None and root.models else self._theme.tokens.muted
        )
        title, below = self.texts(index)
        lines = len(title) + max(1, len(below))
        line = (room.height() - (BAR + SPACE_XS)) // lines
        box = QRect(room.left(), room.top() + (line - size) // 2, size, size)
        icons.draw(painter, self._theme.icon_path(sign), box.toRectF(), tint)
        text = QRect(box.right() + SPACE_S, room.top(), self.width(), line)
        for number, part in enumerate(title):
            self._text(painter, text.translated(0, number * line), part, bold=True, tint="muted" if away else "text")
        for number, part in enumerate(below, len(title)):
            self._text(painter, text.translated(0, number * line), part, bold=False, tint="warn" if away else "muted")
        if root is not None and root.total and root.free is not None and not away:
            self._paint_bar(painter, QRect(text.left(), room.bottom() - BAR + 1, text.width(), BAR), root)

    def _paint_bar(self, painter: QPainter, bar: QRect, root: RootInfo) -> None:
        tokens, total = self._theme.tokens, float(root.total or 1)
        models = min(1.0, root.n_bytes / total)
        used = min(1.0, max(models, 1.0 - (root.free or 0) / total))
        painter.setPen(Qt.PenStyle.NoPen)
        for share, colour in ((1.0, tokens.raised), (used, tokens.outline), (models, tokens.accent)):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), max(2.0, bar.width() * share), BAR), 2, 2)

    def _text(self, painter: QPainter, room: QRect, text: str, *, bold: bool, tint: str) -> None:
        painter.setFont(self._font(bold=bold))
        painter.setPen(QColor(getattr(self._theme.tokens, tint)))
        line = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), line)


class RootsList(QListView):
    """Folders; the one that is selected narrows the table down.

    Attributes:
        chosen: Another folder was selected: its `RootInfo`, None for all.
        menu_wanted: A menu for the selected folder, at this place of the screen.
        remove_wanted: Delete was pressed.
    """

    chosen = Signal(object)
    menu_wanted = Signal(object)
    remove_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.roots = RootsModel(self)
        self.setModel(self.roots)
        self.setObjectName("rootsList")
        self.setAccessibleName(self.tr("Folders with models"))
        self.setProperty("role", "bare")
        self.setItemDelegate(RootsDelegate(theme, self))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().selectionChanged.connect(lambda *_what: self.chosen.emit(self.root))
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        self.choose("")

    @property
    def root(self) -> RootInfo | None:
        """The folder that is selected; None: all."""
        indexes = self.selectedIndexes()
        found: RootInfo | None = indexes[0].data(ROW_ROLE) if indexes else None
        return found

    def show_roots(self, roots: Sequence[RootInfo]) -> None:
        """Show ``roots``; the selected one stays selected while it is there."""
        chosen = self.root
        self.roots.set_roots(roots)
        if not self.selectedIndexes():
            self.choose(chosen.id if chosen is not None else "")

    def choose(self, root_id: str) -> None:
        """Select a folder by its id, "" for all."""
        numbers = [number for number, one in enumerate(self.roots.roots, 1) if one.id == root_id]
        self.setCurrentIndex(self.roots.index(numbers[0] if numbers else 0, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete takes the folder off the list."""
        if event.key() == Qt.Key.Key_Delete:
            self.remove_wanted.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the folder."""
        self.menu_wanted.emit(event.globalPos())
