"""The table of installed models."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.fit.badges import UNKNOWN, Badge
from app.library.service import FileState, InstalledModel
from engine.library.names import shown
from ui.library import fit_words, words
from ui.library.fit_column import badge_data
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()

ROW_ROLE = Qt.ItemDataRole.UserRole
"""The whole `InstalledModel`."""
SORT_ROLE = Qt.ItemDataRole.UserRole + 1
BADGE_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.DecorationRole,
    Qt.ItemDataRole.ForegroundRole,
    Qt.ItemDataRole.ToolTipRole,
    SORT_ROLE,
)


class Column(IntEnum):
    """Columns from left to right, apart from `FIT`, which is shown behind the size."""

    NAME = 0
    QUANT = 1
    SIZE = 2
    CONTEXT = 3
    STATUS = 4
    FOLDER = 5
    FIT = 6


class InstalledTable(QAbstractTableModel):
    """One row for each model."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[InstalledModel, ...] = ()
        self._folder = Path()
        self._loaded: str | None = None
        self._fit: Callable[[Path], Badge] = lambda _path: UNKNOWN
        self._badges: dict[Path, Badge] = {}
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

    def set_fit(self, fit: Callable[[Path], Badge]) -> None:
        """Where badges come from."""
        self._fit = fit

    def refit(self) -> None:
        """Badges may be others now."""
        before, self._badges = self._badges, {}
        if any(self.badge(row) != before.get(row.path) for row in self._rows if row.path in before):
            last = len(self._rows) - 1
            self.dataChanged.emit(self.index(0, Column.FIT), self.index(last, Column.FIT))

    def badge(self, row: InstalledModel) -> Badge:
        """Of one row; only what can be loaded has one."""
        if row.path not in self._badges:
            self._badges[row.path] = self._fit(row.path) if row.can_chat else UNKNOWN
        return self._badges[row.path]

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
            Column.FIT: self.tr("Fit"),
        }.get(Column(section))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour, tooltip, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if column is Column.FIT and role in BADGE_ROLES:
            return self._fit_data(row, role)
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

    def _fit_data(self, row: InstalledModel, role: int) -> object:
        """The model that is loaded says what it takes elsewhere; what cannot be loaded has no badge."""
        if not row.can_chat:
            return None
        badge = self.badge(row)
        return fit_words.sort_key(badge) if role == SORT_ROLE else badge_data(badge, self._theme, role)

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
