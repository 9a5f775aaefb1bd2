"""The table of models that are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.fit.badges import UNKNOWN, Badge
from app.library.service import InstalledModel
from engine.library.names import shown
from ui.library import fit_words
from ui.library.discover.words import age
from ui.library.fit_column import badge_data
from ui.library.keep import words as keep_words
from ui.library.keep.arranging import Order, arranged
from ui.library.keep.columns import PLAIN_TEXTS, SORT_NUMBERS, Column, alignment
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()

ROW_ROLE = Qt.ItemDataRole.UserRole
"""The whole `InstalledModel`."""
BADGE_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.DecorationRole,
    Qt.ItemDataRole.ForegroundRole,
    Qt.ItemDataRole.ToolTipRole,
)


class ModelsTable(QAbstractTableModel):
    """One row for each model that is shown. It sorts and narrows itself: thousands of rows pass no proxy."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._all: tuple[InstalledModel, ...] = ()
        self._rows: tuple[InstalledModel, ...] = ()
        self._places: dict[Path, int] = {}
        self._order = Order()
        self._texts: dict[Path, str] = {}
        self._roots: Mapping[str, str] = {}
        self._updates: frozenset[Path] = frozenset()
        self._loaded: str | None = None
        self._badge_of: Callable[[Path], Badge] = lambda _path: UNKNOWN
        theme.changed.connect(self._repaint)

    # ---- what is shown

    @property
    def rows(self) -> tuple[InstalledModel, ...]:
        """All models, shown or not."""
        return self._all

    @property
    def shown(self) -> tuple[InstalledModel, ...]:
        """Those that are shown, from top to bottom."""
        return self._rows

    @property
    def order(self) -> Order:
        """Which are shown, and how."""
        return self._order

    def row_of(self, path: Path | None) -> int | None:
        """Where the model at ``path`` is shown."""
        return self._places.get(path) if path is not None else None

    def set_rows(self, rows: tuple[InstalledModel, ...], roots: Mapping[str, str]) -> None:
        """Have ``rows``; ``roots`` are the names of folders by their ids."""
        if rows == self._all and roots == self._roots:
            return
        self._all, self._roots = rows, roots
        self._texts.clear()
        self._arrange()

    def narrow(self, root: str, words: str) -> None:
        """Show models of ``root`` ("" all) with all ``words``."""
        self._show(self._order.narrowed(root, words))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; rows of which it says nothing are last in both directions."""
        if column >= 0:
            self._show(self._order.sorted_by(Column(column), descending=order is Qt.SortOrder.DescendingOrder))

    def sort_again(self) -> None:
        """What the rows are sorted by may be another one now."""
        self._arrange()

    def _show(self, order: Order) -> None:
        if order != self._order:
            self._order = order
            self._arrange()

    def _arrange(self) -> None:
        rows = arranged(self._all, self._order, self._sort_key, self._text_of)
        if rows == self._rows:
            return
        places = {row.path: number for number, row in enumerate(rows)}
        if places == self._places:
            self._rows = rows
            self._repaint()
        elif len(rows) == len(self._rows) and places.keys() == self._places.keys():
            self.layoutAboutToBeChanged.emit()
            before = self.persistentIndexList()
            paths = [self._rows[index.row()].path for index in before]
            self._rows, self._places = rows, places
            after = [self.index(places[path], index.column()) for path, index in zip(paths, before, strict=True)]
            self.changePersistentIndexList(before, after)
            self.layoutChanged.emit()
        else:
            self.beginResetModel()
            self._rows, self._places = rows, places
            self.endResetModel()

    def _text_of(self, row: InstalledModel) -> str:
        """Where searched words are looked for."""
        if row.path not in self._texts:
            cells = " ".join(self._text(row, column) for column in Column if column is not Column.FIT)
            self._texts[row.path] = f"{cells} {row.label} {row.repo or ''} {row.owner}".casefold()
        return self._texts[row.path]

    def _sort_key(self, row: InstalledModel, column: Column) -> Any:
        if column is Column.FIT:
            return fit_words.sort_key(self.badge(row))
        number = SORT_NUMBERS.get(column)
        return self._text(row, column).casefold() if number is None else number(row)

    # ---- marks

    def set_updates(self, updates: frozenset[Path]) -> None:
        """Of these models the Hub has a newer file."""
        if updates != self._updates:
            self._updates = updates
            self._texts.clear()
            self._repaint()

    def set_loaded(self, path: str | None) -> None:
        """Mark the model that the worker has loaded."""
        if path != self._loaded:
            self._loaded = path
            self._texts.clear()
            self._repaint()

    def is_loaded(self, model: InstalledModel) -> bool:
        """The worker has this one."""
        return self._loaded is not None and self._loaded == str(model.path)

    def set_badges(self, badge_of: Callable[[Path], Badge]) -> None:
        """What tells what is known of a badge, at once."""
        self._badge_of = badge_of

    def badges_changed(self, paths: Iterable[Path]) -> None:
        """The badges of these models are others now."""
        places = [place for path in paths if (place := self._places.get(path)) is not None]
        if places:
            self.dataChanged.emit(self.index(min(places), Column.FIT), self.index(max(places), Column.FIT))

    def badge(self, row: InstalledModel) -> Badge:
        """Of one row; only what can be loaded has one."""
        return self._badge_of(row.path) if row.can_chat else UNKNOWN

    # ---- for views

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
            return alignment(section)
        return self._title(Column(section)) if role == Qt.ItemDataRole.DisplayRole else None

    def _title(self, column: Column) -> str:
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
        }[column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour, tooltip, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if column is Column.FIT and role in BADGE_ROLES:
            return badge_data(self.badge(row), self._theme, role) if row.can_chat else None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column is Column.STATUS:
            icon, tint = self._status(row)[1:]
            return self._theme.icon(icon, tint) if icon else None
        return plain_tooltip(self._tooltip(row, column)) if role == Qt.ItemDataRole.ToolTipRole else None

    def _status(self, row: InstalledModel) -> keep_words.Status:
        return keep_words.status(row, loaded=self.is_loaded(row), newer=row.path in self._updates)

    def _text(self, row: InstalledModel, column: Column) -> str:
        if column in PLAIN_TEXTS:
            return PLAIN_TEXTS[column](row)
        if column is Column.USED:
            return age(row.last_used) or self.tr("never")
        if column is Column.STATUS:
            return self._status(row).text
        return (self._roots.get(row.root, "") or shown(row.folder)) if column is Column.SOURCE else ""

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
