"""The table of a repository's files."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from app.fit.badges import UNKNOWN, Badge
from engine.library.listing import FileKind
from ui.library import words as library_words
from ui.library.discover import words
from ui.library.discover.entries import Entry
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
    """Columns from left to right. `GET` holds a button."""

    QUANT = 0
    SIZE = 1
    FIT = 2
    QUALITY = 3
    GET = 4


class FilesModel(QAbstractTableModel):
    """One row for each entry."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[Entry, ...] = ()
        self._fit: Callable[[Entry], Badge] = lambda _entry: UNKNOWN
        self._badges: dict[Entry, Badge] = {}
        theme.changed.connect(self._repaint)

    @property
    def rows(self) -> tuple[Entry, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: tuple[Entry, ...]) -> bool:
        """Show the entries of another repository; whether they are others than before."""
        if rows == self._rows:
            return False
        self.beginResetModel()
        self._rows = rows
        self._badges.clear()
        self.endResetModel()
        return True

    def set_fit(self, fit: Callable[[Entry], Badge]) -> None:
        """Where badges come from."""
        self._fit = fit

    def refit(self) -> None:
        """Badges may be others now."""
        before, self._badges = self._badges, {}
        if any(self.badge(row) != before.get(row) for row in self._rows if row in before):
            last = len(self._rows) - 1
            self.dataChanged.emit(self.index(0, Column.FIT), self.index(last, Column.FIT))

    def badge(self, row: Entry) -> Badge:
        """Of one row; what is no model has none."""
        if row not in self._badges:
            self._badges[row] = UNKNOWN if row.file.companion else self._fit(row)
        return self._badges[row]

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Entries."""
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
            Column.FIT: self.tr("Fit on this machine"),
            Column.GET: "",
        }.get(Column(section))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour, tooltip, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if column is Column.FIT and role in BADGE_ROLES:
            return None if row.file.companion else badge_data(self.badge(row), self._theme, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return self._looks(row, column, role)

    def _looks(self, row: Entry, column: Column, role: int) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole:
            plain = column is Column.QUANT and not row.file.companion
            return None if plain else QColor(self._theme.tokens.muted)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._tooltip(row, column))
        if role == Qt.ItemDataRole.DecorationRole and column is Column.QUANT and row.usual:
            return self._theme.icon("star", "accent")
        if role == Qt.ItemDataRole.FontRole and column is Column.QUANT and row.usual:
            font = QFont(self._theme.font())
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return None

    def _tooltip(self, row: Entry, column: Column) -> str:
        if column is Column.QUANT and row.usual:
            return "\n".join([self.tr("What most people should take"), *(part.path for part in row.file.parts)])
        return "\n".join(part.path for part in row.file.parts) if column is Column.QUANT else ""

    def _text(self, row: Entry, column: Column) -> str:
        if column is Column.QUANT:
            return row.name
        if column is Column.SIZE:
            return library_words.file_size(row.file.size)
        if column is Column.QUALITY:
            return self._kind(row) if row.file.companion else words.quality(row.quality)
        return ""

    def _kind(self, row: Entry) -> str:
        return {
            FileKind.PROJECTOR: self.tr("For pictures"),
            FileKind.DRAFT: self.tr("Guesses ahead"),
            FileKind.ADAPTER: self.tr("Adapter (LoRA)"),
            FileKind.STATISTICS: self.tr("Statistics"),
        }.get(row.file.kind, "")

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == Column.SIZE else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
