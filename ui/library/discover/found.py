"""The list at the left of Discover: headings, entries of the catalogue, search results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.hub.records import CatalogueModel, RepoSummary
from ui.library.discover import words

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class Heading:
    """A line between entries; ``text`` below the title is muted."""

    title: str
    text: str = ""


Row = Heading | CatalogueModel | RepoSummary


def repo_of(row: Row | None) -> str:
    """The repository that a row stands for, "" for a heading."""
    return row.repo if isinstance(row, CatalogueModel | RepoSummary) else ""


class FoundModel(QAbstractListModel):
    """Rows that only grow at their end are appended, so that the list stays where it was scrolled to."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show ``rows``."""
        before, after = self._rows, tuple(rows)
        if after == before:
            return
        if before and after[: len(before)] == before:
            self.beginInsertRows(NOWHERE, len(before), len(after) - 1)
            self._rows = after
            self.endInsertRows()
            return
        self.beginResetModel()
        self._rows = after
        self.endResetModel()

    def row_of(self, repo: str) -> int | None:
        """Number of the first row that stands for ``repo``."""
        return next((number for number, row in enumerate(self._rows) if repo and repo_of(row) == repo), None)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Headings count."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or isinstance(self._rows[index.row()], Heading):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, what a screen reader says, and the record itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title if isinstance(row, Heading) else row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        return None


def spoken(row: Row) -> str:
    """A row as it is read out."""
    if isinstance(row, Heading):
        return f"{row.title}. {row.text}".strip()
    if isinstance(row, CatalogueModel):
        return words.spoken_catalogue(row)
    return words.spoken_repo(row)
