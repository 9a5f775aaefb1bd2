"""The list at the left as a model: pinned conversations, folders, the others by time; or the archive."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.chat.arrangement import Arrangement
from app.chat.conversation_list import ConversationListModel
from app.chat.side_drop import Dropped, drop_on
from app.chat.side_rows import Section, SideRow, archive_rows, side_rows

MIME = "application/x-vramble-rows"
Index = QModelIndex | QPersistentModelIndex
_SHARED = ConversationListModel.Role


class SideListModel(QAbstractListModel):
    """Rows of `side_rows`, kept up with the conversations and folders; rows can be dragged."""

    class Role(IntEnum):
        """Data roles, beside those of `ConversationListModel`: ID, TITLE, UPDATED, GROUP, ANSWERING.

        HEADING is the group of a row that is the first one of it; else empty.
        """

        IS_FOLDER = Qt.ItemDataRole.UserRole + 20
        FOLDED = Qt.ItemDataRole.UserRole + 21
        COUNT = Qt.ItemDataRole.UserRole + 22
        INSIDE = Qt.ItemDataRole.UserRole + 23
        ROW = Qt.ItemDataRole.UserRole + 24
        HEADING = Qt.ItemDataRole.UserRole + 25

    def __init__(
        self, conversations: ConversationListModel, arrangement: Arrangement, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._conversations, self._arrangement = conversations, arrangement
        self._rows: list[SideRow] = []
        self._archive = False
        for signal in (
            conversations.modelReset,
            conversations.rowsInserted,
            conversations.rowsRemoved,
            conversations.rowsMoved,
            arrangement.folders_changed,
        ):
            signal.connect(self.rebuild)
        conversations.dataChanged.connect(self._source_changed)
        self.rebuild()

    @property
    def rows(self) -> tuple[SideRow, ...]:
        """All rows, from top to bottom."""
        return tuple(self._rows)

    @property
    def shows_archive(self) -> bool:
        """Whether the rows are those of the archive. One that is empty is not shown."""
        return self._archive

    def show_archive(self, archive: bool) -> None:
        """Show the archive, or everything else."""
        if archive != self._archive:
            self._archive = archive
            self.beginResetModel()
            self._rows = self._wanted()
            self.endResetModel()

    def position(self, conversation: str | None) -> int | None:
        """The row of a conversation; None when it is not listed here."""
        return next(
            (at for at, row in enumerate(self._rows) if row.conversation and row.conversation.id == conversation), None
        )

    def inside(self, folder: str) -> list[str]:
        """Ids of the conversations in a folder, also of one that is folded."""
        return [one.id for one in self._conversations.rows if one.folder == folder]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's default
        """Conversations and folders."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, id, heading and the state of a row."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        at = index.row()
        row = self._rows[at]
        if role == self.Role.HEADING:
            group = self._group(row)
            return group if at == 0 or self._group(self._rows[at - 1]) != group else ""
        if role == self.Role.ROW:
            return row
        if role == _SHARED.GROUP:
            return self._group(row)
        if role == self.Role.IS_FOLDER:
            return row.conversation is None
        if role == self.Role.INSIDE:
            return row.section is Section.FOLDERS and row.conversation is not None
        if row.conversation is not None:
            return self._conversations.value(row.conversation, role)
        return self._folder_value(row, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Titles can be edited; rows can be dragged, and dropped on and between others."""
        flags = super().flags(index)
        if not index.isValid():
            return flags | Qt.ItemFlag.ItemIsDropEnabled
        flags |= Qt.ItemFlag.ItemIsEditable
        row = self._rows[index.row()]
        if row.section in (Section.TEMPORARY, Section.ARCHIVE):
            return flags
        return flags | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsDropEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        """Rows are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Rows of this list only."""
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """The rows that are dragged."""
        data = QMimeData()
        keys = [":".join(self._rows[index.row()].key) for index in indexes if index.isValid()]
        data.setData(MIME, "\n".join(keys).encode())
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        """Carry out what was dropped; the rows themselves follow when it is done."""
        if not data.hasFormat(MIME) or self._archive:
            return False
        keys = {tuple(line.split(":", 1)) for line in bytes(data.data(MIME).data()).decode().splitlines()}
        dragged = [one for one in self._rows if one.key in keys]
        self._carry_out(drop_on(self._rows, dragged, row, parent.row() if parent.isValid() else None))
        return False

    def rebuild(self, *_what: object) -> None:
        """Take the rows as they are now: one that came, went or moved alone keeps all others in place."""
        old, new = self._rows, self._wanted()
        first = 0
        while first < min(len(old), len(new)) and old[first].key == new[first].key:
            first += 1
        last = 0
        while last < min(len(old), len(new)) - first and old[-1 - last].key == new[-1 - last].key:
            last += 1
        gone, come = old[first : len(old) - last], new[first : len(new) - last]
        if len(gone) > 1 and len(come) > 1:
            self._move_or_reset(first, gone, come, new)
        else:
            self._replace(first, gone, come, new)
        self._tell_changes(old, new)

    def _replace(self, first: int, gone: list[SideRow], come: list[SideRow], new: list[SideRow]) -> None:
        if gone:
            self.beginRemoveRows(QModelIndex(), first, first + len(gone) - 1)
            del self._rows[first : first + len(gone)]
            self.endRemoveRows()
        if come:
            self.beginInsertRows(QModelIndex(), first, first + len(come) - 1)
            self._rows = list(new)
            self.endInsertRows()

    def _move_or_reset(self, first: int, gone: list[SideRow], come: list[SideRow], new: list[SideRow]) -> None:
        keys, wanted = [row.key for row in gone], [row.key for row in come]
        if keys[1:] + keys[:1] == wanted:
            self.beginMoveRows(QModelIndex(), first, first, QModelIndex(), first + len(gone))
        elif keys[-1:] + keys[:-1] == wanted:
            end = first + len(gone) - 1
            self.beginMoveRows(QModelIndex(), end, end, QModelIndex(), first)
        else:
            self.beginResetModel()
            self._rows = new
            self.endResetModel()
            return
        self._rows = new
        self.endMoveRows()

    def _tell_changes(self, old: Sequence[SideRow], new: list[SideRow]) -> None:
        before = {row.key: row for row in old}
        self._rows = new
        for at, row in enumerate(new):
            known = before.get(row.key)
            if known is not None and known is not row and known != row:
                self.dataChanged.emit(self.index(at, 0), self.index(at, 0))

    def _wanted(self) -> list[SideRow]:
        conversations = self._conversations.rows
        archived = archive_rows(conversations) if self._archive else []
        self._archive = bool(archived)
        return archived or side_rows(conversations, self._arrangement.folders)

    def _source_changed(self, first: QModelIndex, last: QModelIndex, roles: list[int]) -> None:
        if roles == [_SHARED.GROUP] and self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0), [*roles, self.Role.HEADING])
            return
        self.rebuild()
        if _SHARED.ANSWERING in roles:
            at = self.position(str(first.data(_SHARED.ID)))
            if at is not None:
                self.dataChanged.emit(self.index(at, 0), self.index(at, 0), roles)

    def _group(self, row: SideRow) -> str:
        if row.conversation is None:
            return Section.FOLDERS.value
        if row.section is not Section.BY_TIME:
            return row.section.value
        return str(self._conversations.value(row.conversation, _SHARED.GROUP))

    def _folder_value(self, row: SideRow, role: int) -> Any:
        folder = row.folder
        if folder is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, _SHARED.TITLE):
            return folder.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{folder.title}, {row.size}"
        values = {
            int(_SHARED.ID): folder.id,
            int(self.Role.FOLDED): folder.folded,
            int(self.Role.COUNT): row.size,
        }
        return values.get(role)

    def _carry_out(self, dropped: Dropped | None) -> None:
        if dropped is None:
            return
        if dropped.folders:
            self._arrangement.order_folders(dropped.folders)
        elif dropped.section is Section.PINNED:
            self._arrangement.pin_at(dropped.conversations, dropped.order)
        else:
            self._arrangement.file(dropped.conversations, dropped.folder, dropped.order)
