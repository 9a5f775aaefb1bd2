"""The table of installed models."""

from __future__ import annotations

import os
from enum import IntEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.library.service import FileState, InstalledModel
from engine.library.names import shown
from ui.library import words
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()

ROW_ROLE = Qt.ItemDataRole.UserRole
"""The whole `InstalledModel`."""
SORT_ROLE = Qt.ItemDataRole.UserRole + 1


class Column(IntEnum):
    """Columns from left to right."""

    NAME = 0
    QUANT = 1
    SIZE = 2
    CONTEXT = 3
    STATUS = 4
    FOLDER = 5


class InstalledTable(QAbstractTableModel):
    """One row for each model."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[InstalledModel, ...] = ()
        self._folder = Path()
        self._loaded: str | None = None
        theme.changed.connect(self._repaint)

    def set_rows(self, rows: tuple[InstalledModel, ...], folder: Path) -> None:
        """Show ``rows``; ``folder`` is the models folder, which paths are shown relative to."""
        if [row.path for row in rows] == [row.path for row in self._rows]:
            self._rows, self._folder = rows, folder
            self._repaint()
            return
        self.beginResetModel()
        self._rows, self._folder = rows, folder
        self.endResetModel()

    def set_loaded(self, path: str | None) -> None:
        """Mark the model that the worker has loaded."""
        if path != self._loaded:
            self._loaded = path
            self._repaint()

    def is_loaded(self, model: InstalledModel) -> bool:
        """The worker has this one."""
        return self._loaded is not None and self._loaded == str(model.path)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Models."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """See `Column`."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles of the columns."""
        if orientation == Qt.Orientation.Vertical or role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.TextAlignmentRole,
        ):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return {
            Column.NAME: self.tr("Name"),
            Column.QUANT: self.tr("Quantisation"),
            Column.SIZE: self.tr("Size"),
            Column.CONTEXT: self.tr("Context"),
            Column.STATUS: self.tr("Status"),
            Column.FOLDER: self.tr("Folder"),
        }.get(Column(section))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour, tooltip, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == ROW_ROLE:
            return row
        if role == SORT_ROLE:
            return self._sort_key(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._tooltip(row, column))
        return None

    def _text(self, row: InstalledModel, column: Column) -> str:
        if column is Column.NAME:
            return row.name
        if column is Column.QUANT:
            return row.quant or "–"
        if column is Column.SIZE:
            return words.file_size(row.size_bytes)
        if column is Column.CONTEXT:
            return words.context(row.context_length) or "–"
        if column is Column.STATUS:
            return words.model_status(row, loaded=self.is_loaded(row))
        return self._place(row)

    def _place(self, row: InstalledModel) -> str:
        if row.folder.is_relative_to(self._folder):
            return shown(os.path.relpath(row.folder, self._folder))
        return shown(row.folder)

    def _sort_key(self, row: InstalledModel, column: Column) -> object:
        if column is Column.SIZE:
            return row.size_bytes
        if column is Column.CONTEXT:
            return row.context_length or 0
        return self._text(row, column).casefold()

    def _tooltip(self, row: InstalledModel, column: Column) -> str:
        if column is Column.STATUS:
            return row.problem
        if column is Column.NAME:
            facts = (row.label, row.architecture, words.parameters(row.n_params), row.problem, *row.warnings)
            return "\n".join(fact for fact in facts if fact)
        return shown(row.path) if column is Column.FOLDER else ""

    def _colour(self, row: InstalledModel, column: Column) -> QColor | None:
        tokens = self._theme.tokens
        if column is Column.STATUS:
            if self.is_loaded(row):
                return QColor(tokens.good)
            if row.state is not FileState.OK:
                return QColor(tokens.bad)
            return QColor(tokens.muted)
        usable = row.can_chat or self.is_loaded(row)
        return None if column is Column.NAME and usable else QColor(tokens.muted)

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (Column.SIZE, Column.CONTEXT) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
