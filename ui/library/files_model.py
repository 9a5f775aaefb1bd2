"""The table of a repository's files."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.fit.badges import UNKNOWN, Badge
from engine.library.listing import RepoFile
from ui.library import words
from ui.library.fit_column import badge_data
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole
BADGE_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.DecorationRole,
    Qt.ItemDataRole.ForegroundRole,
    Qt.ItemDataRole.ToolTipRole,
)


class Column(IntEnum):
    """Columns from left to right, apart from `FIT`, which is shown behind the size."""

    QUANT = 0
    SIZE = 1
    QUALITY = 2
    FILE = 3
    STATUS = 4
    FIT = 5


class FilesTable(QAbstractTableModel):
    """One row for each model of a repository."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[RepoFile, ...] = ()
        self._status: dict[str, str] = {}
        self._fit: Callable[[RepoFile], Badge] = lambda _file: UNKNOWN
        self._badges: dict[RepoFile, Badge] = {}
        theme.changed.connect(self._repaint)

    @property
    def rows(self) -> tuple[RepoFile, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: tuple[RepoFile, ...]) -> None:
        """Show the files of another listing."""
        self.beginResetModel()
        self._rows = rows
        self._badges.clear()
        self.endResetModel()

    def set_fit(self, fit: Callable[[RepoFile], Badge]) -> None:
        """Where badges come from."""
        self._fit = fit

    def refit(self) -> None:
        """Badges may be others now."""
        before, self._badges = self._badges, {}
        if any(self.badge(row) != before.get(row) for row in self._rows if row in before):
            last = len(self._rows) - 1
            self.dataChanged.emit(self.index(0, Column.FIT), self.index(last, Column.FIT))

    def badge(self, row: RepoFile) -> Badge:
        """Of one row."""
        if row not in self._badges:
            self._badges[row] = self._fit(row)
        return self._badges[row]

    def set_status(self, status: dict[str, str]) -> None:
        """A word for files by path: installed, downloading."""
        if status != self._status:
            self._status = status
            self._repaint()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Files."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """See `Column`."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles of the columns."""
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return {
            Column.QUANT: self.tr("Quantisation"),
            Column.SIZE: self.tr("Size"),
            Column.QUALITY: self.tr("Quality"),
            Column.FILE: self.tr("File"),
            Column.STATUS: self.tr("Status"),
            Column.FIT: self.tr("Fit"),
        }.get(Column(section))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour, tooltip, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if column is Column.FIT and role in BADGE_ROLES:
            return None if row.companion else badge_data(self.badge(row), self._theme, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip("\n".join(part.path for part in row.parts))
        return None

    def _text(self, row: RepoFile, column: Column) -> str:
        if column is Column.QUANT:
            return row.quant or "–"
        if column is Column.SIZE:
            return words.file_size(row.size)
        if column is Column.QUALITY:
            return self.tr("For another model") if row.companion else words.quality(row.quant)
        if column is Column.STATUS:
            return self._status.get(row.path, "")
        if len(row.parts) > 1:
            return self.tr("{0} ({1} parts)").format(row.path, len(row.parts))
        return row.path

    def _colour(self, row: RepoFile, column: Column) -> QColor | None:
        tokens = self._theme.tokens
        if column is Column.STATUS:
            return QColor(tokens.good)
        plain = column in (Column.QUANT, Column.SIZE) and not row.companion
        return None if plain else QColor(tokens.muted)

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == Column.SIZE else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
