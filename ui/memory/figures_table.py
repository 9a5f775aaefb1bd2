"""The table of the memory page."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from ui.memory.figures import FigureRow
from ui.memory.page_words import tr
from ui.theme import Theme

AnyIndex = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_HEIGHT = 30
WIDTHS = (280, 0, 130, 130)
"""Of the columns at scale 1; 0 takes what is left."""


class FigureModel(QAbstractTableModel):
    """The rows; a change of a figure touches its cell only.

    Attributes:
        shaped: Other rows than before are headings, or texts without a figure.
    """

    shaped = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[FigureRow, ...] = ()

    @property
    def rows(self) -> tuple[FigureRow, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, new: tuple[FigureRow, ...]) -> None:
        """Show ``new``; only another number of rows or another order of headings moves the view."""
        old = self._rows
        shape = [(row.heading, row.wide) for row in old] != [(row.heading, row.wide) for row in new]
        self._take(old, new)
        if shape:
            self.shaped.emit()

    def _take(self, old: tuple[FigureRow, ...], new: tuple[FigureRow, ...]) -> None:
        if len(new) != len(old) or any(a.heading != b.heading for a, b in zip(old, new, strict=True)):
            self.beginResetModel()
            self._rows = new
            self.endResetModel()
            return
        self._rows = new
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            for column, (was, now) in enumerate(zip(before.cells(), after.cells(), strict=True)):
                if was != now:
                    cell = self.index(number, column)
                    self.dataChanged.emit(cell, cell, [Qt.ItemDataRole.DisplayRole])

    def rowCount(self, parent: AnyIndex = NO_PARENT) -> int:
        """Headings and figures."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = NO_PARENT) -> int:
        """Memory, whose, size, share."""
        return 0 if parent.isValid() else len(WIDTHS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts; figures to the right; headings bold."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells()[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.FontRole and row.heading:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(text for text in row.cells() if text)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Names of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section > 1 else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (tr("Memory"), tr("Whose"), tr("Size"), tr("Share"))[section]


class FiguresTable(QTableView):
    """A row for each figure of the page."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.figures = FigureModel(self)
        self.setModel(self.figures)
        self.setObjectName("memoryTable")
        self.setAccessibleName(tr("Memory figures"))
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.setShowGrid(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.figures.shaped.connect(self._span)
        theme.changed.connect(self._measure)
        self._measure()

    def _span(self) -> None:
        """Titles and sentences take the room that no figure needs, so that they are not cut."""
        self.clearSpans()
        for number, row in enumerate(self.figures.rows):
            if row.heading:
                self.setSpan(number, 0, 1, 2)
            elif row.wide:
                self.setSpan(number, 1, 1, len(WIDTHS) - 1)

    def _measure(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_HEIGHT))
        for column, width in enumerate(WIDTHS):
            if width:
                self.setColumnWidth(column, self._theme.px(width))
