"""Tables of ready texts: results, published figures, earlier benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
KEY_ROLE = Qt.ItemDataRole.UserRole
ROW_HEIGHT = 34
PADDING = 13
"""Of a cell with the stylesheet's padding, at each side."""


class CellRow:
    """One row: texts, a tooltip, the tokens that tint single cells, and whatever it stands for."""

    def __init__(
        self, cells: Sequence[str], *, tip: str = "", tints: dict[int, str] | None = None, key: object = None
    ) -> None:
        self.cells, self.tip, self.tints, self.key = tuple(cells), tip, tints or {}, key


class CellTable(QAbstractTableModel):
    """Rows of texts. Columns from ``numbers_from`` on hold figures and stand at the right.

    Args:
        until: The first column after the figures; texts again from there on.
        tips: What columns mean, by their number.
    """

    def __init__(
        self,
        theme: Theme,
        titles: Sequence[str],
        numbers_from: int,
        until: int = 99,
        tips: dict[int, str] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._titles, self._from, self._until = theme, tuple(titles), numbers_from, until
        self._rows: tuple[CellRow, ...] = ()
        self._tips = tips or {}
        theme.changed.connect(self._repaint)

    def set_rows(self, rows: Sequence[CellRow]) -> None:
        """Show ``rows``."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def used_columns(self) -> set[int]:
        """Columns with at least one text."""
        return {column for column in range(len(self._titles)) if any(row.cells[column] for row in self._rows)}

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """Columns."""
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles."""
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(self._titles):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._tips.get(section, ""))
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts and their looks."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells[index.column()]
        if role == KEY_ROLE:
            return row.key
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(row.tip)
        if role == Qt.ItemDataRole.ForegroundRole and index.column() in row.tints:
            return QColor(getattr(self._theme.tokens, row.tints[index.column()]))
        return None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self._from <= column < self._until else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def _repaint(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self._titles) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])


class CellView(QTableView):
    """A table that is as high as its rows, or as there is room when it may ``scroll``; rows may ``wrap``."""

    def __init__(
        self,
        theme: Theme,
        model: CellTable,
        name: str,
        stretch: int,
        *,
        scroll: bool = False,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._cells, self._stretch = theme, model, stretch
        self._scrolls, self._wraps = scroll, wrap
        self.setModel(model)
        self.setAccessibleName(name)
        self._dress()
        model.modelReset.connect(self.fit)
        theme.changed.connect(self.fit)
        self.fit()

    def _dress(self) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(self._wraps)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        if not self._scrolls:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(40)

    def fit(self) -> None:
        """Heights and widths for the present rows and text size; empty columns are left out."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_HEIGHT))
        self.verticalHeader().setMinimumSectionSize(self._theme.px(ROW_HEIGHT))
        header, used = self.horizontalHeader(), self._cells.used_columns()
        for column in range(self._cells.columnCount()):
            stretches = column == self._stretch
            mode = QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
            self.setColumnHidden(column, column not in used)
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrapped rows need another height in another width."""
        super().resizeEvent(event)
        if self._wraps and event.size().width() != event.oldSize().width():
            self._fit_height()

    def _fit_height(self) -> None:
        if self._wraps:
            self._wrap_rows()
        if not self._scrolls:
            head = self.horizontalHeader().sizeHint().height()
            self.setFixedHeight(self.verticalHeader().length() + head + 2 * self.frameWidth() + 2)

    def _wrap_rows(self) -> None:
        """Rows as high as the text of the wide column needs; Qt's own figure forgets the stylesheet's padding."""
        room = self.columnWidth(self._stretch) - 2 * PADDING
        for row in range(self._cells.rowCount()):
            text = str(self._cells.index(row, self._stretch).data() or "")
            needed = self.fontMetrics().boundingRect(0, 0, max(40, room), 9999, Qt.TextFlag.TextWordWrap, text).height()
            self.setRowHeight(row, max(self._theme.px(ROW_HEIGHT), needed + PADDING))
