"""The open conversation as a list model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.chat.rows import MessageRow

_ROLES = [Qt.ItemDataRole.UserRole, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole]


class TranscriptModel(QAbstractListModel):
    """One frozen `MessageRow` for each message; ``UserRole`` gives the whole row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[MessageRow] = []

    @property
    def rows(self) -> tuple[MessageRow, ...]:
        """All rows, first message first."""
        return tuple(self._rows)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's default
        """Messages of the open conversation."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The row, or its text."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.author}: {row.text}"
        return None

    def reset(self, rows: Sequence[MessageRow]) -> None:
        """Show another conversation."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def show(self, rows: Sequence[MessageRow]) -> None:
        """Show a new state of the same conversation; rows that stay are not touched."""
        kept = 0
        for old, new in zip(self._rows, rows, strict=False):
            if old.id != new.id:
                break
            kept += 1
        self._cut(kept)
        for at, row in enumerate(rows[:kept]):
            self._replace(at, row)
        self._append(rows[kept:])

    def is_end_of(self, rows: Sequence[MessageRow]) -> bool:
        """Whether the rows that are shown are the last ones of ``rows``, and some come before them."""
        before = len(rows) - len(self._rows)
        if before <= 0 or not self._rows:
            return False
        return all(old.id == new.id for old, new in zip(self._rows, rows[before:], strict=True))

    def show_end(self, rows: Sequence[MessageRow]) -> None:
        """Take the new state of those of ``rows`` that are shown, which are the last ones (`is_end_of`)."""
        before = len(rows) - len(self._rows)
        for at, row in enumerate(rows[before:]):
            self._replace(at, row)

    def prepend(self, rows: Sequence[MessageRow]) -> None:
        """Show ``rows`` before all others."""
        if rows:
            self.beginInsertRows(QModelIndex(), 0, len(rows) - 1)
            self._rows[:0] = rows
            self.endInsertRows()

    def update(self, row: MessageRow) -> None:
        """Replace the row with the same id, if it is shown and differs."""
        at = self._position(row.id)
        if at is not None:
            self._replace(at, row)

    def row(self, id_: str) -> MessageRow | None:
        """The row of a message, if it is shown."""
        at = self._position(id_)
        return None if at is None else self._rows[at]

    def _replace(self, at: int, row: MessageRow) -> None:
        if self._rows[at] != row:
            self._rows[at] = row
            index = self.index(at, 0)
            self.dataChanged.emit(index, index, _ROLES)

    def _position(self, id_: str) -> int | None:
        """Searched from the end: what changes is nearly always the last row."""
        return next((at for at in range(len(self._rows) - 1, -1, -1) if self._rows[at].id == id_), None)

    def _cut(self, kept: int) -> None:
        if kept < len(self._rows):
            self.beginRemoveRows(QModelIndex(), kept, len(self._rows) - 1)
            del self._rows[kept:]
            self.endRemoveRows()

    def _append(self, rows: Sequence[MessageRow]) -> None:
        if rows:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows.extend(rows)
            self.endInsertRows()
