"""What a search found, as a list model."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.chat.search import Search
from engine.chat.found import Hit

Index = QModelIndex | QPersistentModelIndex


class SearchRows(QAbstractListModel):
    """One row for each hit, in the order in which they were found."""

    class Role(IntEnum):
        """``HIT`` gives the whole `Hit`; ``DisplayRole`` is the title of its conversation."""

        HIT = Qt.ItemDataRole.UserRole + 1

    def __init__(self, search: Search, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._search = search
        self._hits: tuple[Hit, ...] = ()
        search.changed.connect(self._follow)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All rows."""
        return self._hits

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's default
        """Hits so far."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The hit, or its title."""
        if not index.isValid() or not 0 <= index.row() < len(self._hits):
            return None
        hit = self._hits[index.row()]
        if role == self.Role.HIT:
            return hit
        if role == Qt.ItemDataRole.DisplayRole:
            return hit.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return hit.title if hit.message is None else f"{hit.title}: {hit.line}"
        return None

    def canFetchMore(self, parent: Index) -> bool:
        """Whether the search may find more."""
        return not parent.isValid() and bool(self._hits) and self._search.has_more and not self._search.searching

    def fetchMore(self, parent: Index) -> None:
        """Look for another page; it comes later."""
        self._search.more()

    def _follow(self) -> None:
        hits = self._search.hits
        kept = len(self._hits)
        if kept and len(hits) >= kept and hits[:kept] == self._hits:
            if len(hits) > kept:
                self.beginInsertRows(QModelIndex(), kept, len(hits) - 1)
                self._hits = hits
                self.endInsertRows()
        elif hits != self._hits:
            self.beginResetModel()
            self._hits = hits
            self.endResetModel()
