"""The messages with one row more: what stands for those that the model does not get any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.chat.rows import MessageRow

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class SummaryRows(QAbstractListModel):
    """The rows of ``source``, and between them the one of `show`, while there is one."""

    def __init__(self, source: QAbstractItemModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._row: MessageRow | None = None
        self._at = 0
        source.modelAboutToBeReset.connect(self.beginResetModel)
        source.modelReset.connect(self._reset)
        source.rowsAboutToBeInserted.connect(self._inserting)
        source.rowsInserted.connect(self._inserted)
        source.rowsAboutToBeRemoved.connect(self._removing)
        source.rowsRemoved.connect(self._removed)
        source.dataChanged.connect(self._changed)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Messages, and the row more."""
        return 0 if parent.isValid() else self._source.rowCount() + (self._row is not None)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As the source has it."""
        if not index.isValid():
            return None
        if self._row is None or index.row() != self._at:
            behind = self._row is not None and index.row() > self._at
            return self._source.index(index.row() - behind, 0).data(role)
        if role == Qt.ItemDataRole.UserRole:
            return self._row
        if role == Qt.ItemDataRole.DisplayRole:
            return self._row.text
        return f"{self._row.author}: {self._row.text}" if role == Qt.ItemDataRole.AccessibleTextRole else None

    def show(self, row: MessageRow | None, at: int = 0) -> None:
        """Have ``row`` before message number ``at``; None: have no row more."""
        if self._row is not None and (row is None or (row.id, at) != (self._row.id, self._at)):
            self._take_away()
        if row is None or row == self._row:
            return
        if self._row is None:
            self.beginInsertRows(NOWHERE, at, at)
            self._row, self._at = row, at
            self.endInsertRows()
        else:
            self._row = row
            self.dataChanged.emit(self.index(at, 0), self.index(at, 0), [])

    def _take_away(self) -> None:
        self.beginRemoveRows(NOWHERE, self._at, self._at)
        self._row = None
        self.endRemoveRows()

    def _place(self, source_row: int) -> int:
        return source_row + (self._row is not None and source_row >= self._at)

    def _reset(self) -> None:
        self._row = None
        self.endResetModel()

    def _inserting(self, _parent: QModelIndex, first: int, last: int) -> None:
        shift = self._row is not None and first > self._at
        self.beginInsertRows(NOWHERE, first + shift, last + shift)

    def _inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._row is not None and first <= self._at:
            self._at += last + 1 - first
        self.endInsertRows()

    def _removing(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._row is not None and first <= self._at <= last:
            self._take_away()
        self.beginRemoveRows(NOWHERE, self._place(first), self._place(last))

    def _removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._row is not None and last < self._at:
            self._at -= last + 1 - first
        self.endRemoveRows()

    def _changed(self, top: QModelIndex, bottom: QModelIndex, roles: Sequence[int]) -> None:
        first, last = self.index(self._place(top.row()), 0), self.index(self._place(bottom.row()), 0)
        self.dataChanged.emit(first, last, list(roles))
