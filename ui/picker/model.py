"""The entries of a folder as rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.folders.look import FolderEntry
from engine.library.names import shown
from engine.library.sizes import size_text
from ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ENTRY_ROLE = Qt.ItemDataRole.UserRole
SIZE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The size in words; of folders empty."""


class EntriesModel(QAbstractListModel):
    """Folders, and files with their sizes."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[FolderEntry, ...] = ()

    def show(self, entries: Iterable[FolderEntry], *, only_folders: bool) -> None:
        """Show ``entries``."""
        self.beginResetModel()
        self._rows = tuple(entry for entry in entries if entry.is_folder or not only_folders)
        self.endResetModel()

    def place_of(self, path: Path | None) -> int | None:
        """Number of the row of ``path``."""
        return next((number for number, row in enumerate(self._rows) if row.path == path), None)

    def has_file(self, name: str) -> bool:
        """Whether something is called ``name`` here."""
        return any(row.path.name == name for row in self._rows)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Entries."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, size, icon, the whole name as a tooltip, and the record."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ENTRY_ROLE:
            return row
        if role == SIZE_ROLE:
            return "" if row.is_folder else size_text(row.size)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return shown(row.path.name)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            name = shown(row.path.name)
            folder = QCoreApplication.translate("EntriesModel", "Folder {0}")
            return folder.format(name) if row.is_folder else f"{name}, {size_text(row.size)}"
        if role == Qt.ItemDataRole.DecorationRole:
            return self._theme.icon("folder-simple" if row.is_folder else "package", "muted")
        return None
