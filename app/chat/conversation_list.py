"""The conversations as a list model, newest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.chat.groups import Groups, day_of
from engine.chat.records import Conversation

SPOKEN = ", an answer is being written"
"""What a screen reader says behind the title."""


class ConversationListModel(QAbstractListModel):
    """One row for each conversation that is not deleted, the one changed last first."""

    class Role(IntEnum):
        """Data roles. ``DisplayRole`` is the title too."""

        ID = Qt.ItemDataRole.UserRole + 1
        TITLE = Qt.ItemDataRole.UserRole + 2
        UPDATED = Qt.ItemDataRole.UserRole + 3
        GROUP = Qt.ItemDataRole.UserRole + 4
        ANSWERING = Qt.ItemDataRole.UserRole + 5

    def __init__(self, now: Callable[[], float] = time.time, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now
        self._today = day_of(now())
        self._groups = Groups(self._today)
        self._rows: list[Conversation] = []
        self._answering: frozenset[str] = frozenset()

    @property
    def rows(self) -> tuple[Conversation, ...]:
        """All conversations, newest first."""
        return tuple(self._rows)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's default
        """Number of conversations."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, id, time of the last change in seconds, heading, whether an answer is written in it."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        return self.value(self._rows[index.row()], role)

    def value(self, conversation: Conversation, role: int) -> Any:
        """What `data` says of ``conversation``."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, self.Role.TITLE):
            return conversation.title
        if role == self.Role.ID:
            return conversation.id
        if role == self.Role.UPDATED:
            return conversation.updated
        if role == self.Role.GROUP:
            return self._groups.of(conversation.updated).value
        if role == self.Role.ANSWERING:
            return conversation.id in self._answering
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return conversation.title + (SPOKEN if conversation.id in self._answering else "")
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Titles can be edited; the owner of the conversations takes the new one."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def roleNames(self) -> dict[int, Any]:
        """Names of the roles."""
        names: dict[int, Any] = super().roleNames()
        return names | {role.value: role.name.lower().encode() for role in self.Role}

    def find(self, id_: str | None) -> Conversation | None:
        """The conversation with this id, if it is listed."""
        return next((row for row in self._rows if row.id == id_), None)

    def reset(self, conversations: Sequence[Conversation]) -> None:
        """Show these, newest first."""
        self.beginResetModel()
        self._rows = sorted(conversations, key=lambda row: row.updated, reverse=True)
        self._set_today(day_of(self._now()))
        self.endResetModel()

    def put(self, conversation: Conversation) -> None:
        """Add a conversation, or replace the one with its id and move it to its place."""
        self.refresh_groups()
        at = self._position(conversation.id)
        others = [row for row in self._rows if row.id != conversation.id]
        to = next((i for i, row in enumerate(others) if row.updated <= conversation.updated), len(others))
        if at is None:
            self.beginInsertRows(QModelIndex(), to, to)
            self._rows.insert(to, conversation)
            self.endInsertRows()
            return
        if at != to:
            self.beginMoveRows(QModelIndex(), at, at, QModelIndex(), to + 1 if to > at else to)
            self._rows.insert(to, self._rows.pop(at))
            self.endMoveRows()
        if self._rows[to] != conversation:
            self._rows[to] = conversation
            index = self.index(to, 0)
            self.dataChanged.emit(index, index)

    def remove(self, id_: str) -> None:
        """Take a conversation away."""
        at = self._position(id_)
        if at is not None:
            self.beginRemoveRows(QModelIndex(), at, at)
            del self._rows[at]
            self.endRemoveRows()

    def set_answering(self, conversations: frozenset[str]) -> None:
        """In these an answer is written."""
        changed, self._answering = conversations ^ self._answering, conversations
        for id_ in changed:
            at = self._position(id_)
            if at is not None:
                index = self.index(at, 0)
                self.dataChanged.emit(index, index, [self.Role.ANSWERING, Qt.ItemDataRole.AccessibleTextRole])

    def refresh_groups(self) -> None:
        """Headings anew, when a day has passed."""
        today = day_of(self._now())
        if today != self._today:
            self._set_today(today)
            if self._rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0), [self.Role.GROUP])

    def _set_today(self, today: date) -> None:
        self._today, self._groups = today, Groups(today)

    def _position(self, id_: str) -> int | None:
        return next((at for at, row in enumerate(self._rows) if row.id == id_), None)
