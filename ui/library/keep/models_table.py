"""The table of models that are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.fit.badges import UNKNOWN, Badge
from app.library.service import InstalledModel
from engine.library.names import shown
from ui.library import fit_words, words
from ui.library.discover.words import age, licence
from ui.library.fit_column import badge_data
from ui.library.keep import words as keep_words
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
    """Columns from left to right."""

    NAME = 0
    QUANT = 1
    SIZE = 2
    FIT = 3
    CONTEXT = 4
    USED = 5
    STATUS = 6
    PARAMETERS = 7
    ARCHITECTURE = 8
    LICENCE = 9
    SOURCE = 10


NUMBERS = (Column.SIZE, Column.CONTEXT, Column.PARAMETERS)


class ModelsTable(QAbstractTableModel):
    """One row for each model."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[InstalledModel, ...] = ()
        self._roots: Mapping[str, str] = {}
        self._updates: frozenset[Path] = frozenset()
        self._loaded: str | None = None
        self._fit: Callable[[Path], Badge] = lambda _path: UNKNOWN
        self._badges: dict[Path, Badge] = {}
        theme.changed.connect(self._repaint)

    @property
    def rows(self) -> tuple[InstalledModel, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: tuple[InstalledModel, ...], roots: Mapping[str, str]) -> None:
        """Show ``rows``; ``roots`` are the names of folders by their ids."""
        self._roots = roots
        if [row.path for row in rows] == [row.path for row in self._rows]:
            if rows != self._rows:
                self._rows = rows
                self._repaint()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def set_updates(self, updates: frozenset[Path]) -> None:
        """Of these models the Hub has a newer file."""
        if updates != self._updates:
            self._updates = updates
            self._repaint()

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
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return {
            Column.NAME: self.tr("Name"),
            Column.QUANT: self.tr("Quantisation"),
            Column.SIZE: self.tr("Size"),
            Column.FIT: self.tr("Fit"),
            Column.CONTEXT: self.tr("Context"),
            Column.USED: self.tr("Last used"),
            Column.STATUS: self.tr("Status"),
            Column.PARAMETERS: self.tr("Parameters"),
            Column.ARCHITECTURE: self.tr("Architecture"),
            Column.LICENCE: self.tr("Licence"),
            Column.SOURCE: self.tr("Folder"),
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
        if role == Qt.ItemDataRole.DecorationRole and column is Column.STATUS:
            icon, tint = self._status(row)[1:]
            return self._theme.icon(icon, tint) if icon else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._tooltip(row, column))
        return None

    def _fit_data(self, row: InstalledModel, role: int) -> object:
        """The model that is loaded says what it takes elsewhere; what cannot be loaded has no badge."""
        if not row.can_chat:
            return None
        badge = self.badge(row)
        return fit_words.sort_key(badge) if role == SORT_ROLE else badge_data(badge, self._theme, role)

    def _status(self, row: InstalledModel) -> keep_words.Status:
        return keep_words.status(row, loaded=self.is_loaded(row), newer=row.path in self._updates)

    def _text(self, row: InstalledModel, column: Column) -> str:
        # Only this column's text is made: sorting 2,000 rows asks some 25,000 times.
        if column in PLAIN_TEXTS:
            return PLAIN_TEXTS[column](row)
        if column is Column.USED:
            return age(row.last_used) or self.tr("never")
        if column is Column.STATUS:
            return self._status(row).text
        return (self._roots.get(row.root, "") or shown(row.folder)) if column is Column.SOURCE else ""

    def _sort_key(self, row: InstalledModel, column: Column) -> object:
        numbers = {
            Column.SIZE: row.size_bytes,
            Column.CONTEXT: row.context_length or 0,
            Column.PARAMETERS: row.n_params or 0,
            Column.USED: row.last_used,
        }
        return numbers[column] if column in numbers else self._text(row, column).casefold()

    def _tooltip(self, row: InstalledModel, column: Column) -> str:
        if column is Column.STATUS:
            return row.problem
        if column is Column.NAME:
            facts = (row.label, shown(row.path), *row.also, row.problem, *row.warnings)
            return "\n".join(fact for fact in facts if fact)
        return shown(row.path) if column is Column.SOURCE else ""

    def _colour(self, row: InstalledModel, column: Column) -> QColor | None:
        tokens = self._theme.tokens
        if column is Column.STATUS:
            return QColor(getattr(tokens, self._status(row).tint))
        usable = row.can_chat or self.is_loaded(row)
        return None if column is Column.NAME and usable else QColor(tokens.muted)

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


PLAIN_TEXTS: dict[Column, Callable[[InstalledModel], str]] = {
    Column.NAME: lambda row: row.name,
    Column.QUANT: lambda row: row.quant or "–",
    Column.SIZE: lambda row: words.file_size(row.size_bytes),
    Column.CONTEXT: lambda row: words.context(row.context_length) or "–",
    Column.PARAMETERS: lambda row: words.parameters(row.n_params) or "–",
    Column.ARCHITECTURE: lambda row: row.architecture or "–",
    Column.LICENCE: lambda row: licence(row.licence) if row.licence else "–",
}
"""Columns whose text is told by the row alone."""
