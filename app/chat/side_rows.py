"""Which rows the list at the left has: pure functions on conversations and folders."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from engine.chat.records import Conversation, Folder


class Section(StrEnum):
    """Where a row stands. Rows by time have the headings of `app.chat.groups`."""

    TEMPORARY = "Temporary"
    PINNED = "Pinned"
    FOLDERS = "Folders"
    BY_TIME = ""
    ARCHIVE = "Archive"


class SideRow(NamedTuple):
    """A conversation, or a folder (``conversation`` is None) with the ``size`` of it."""

    section: Section
    conversation: Conversation | None = None
    folder: Folder | None = None
    size: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Tells rows apart."""
        if self.conversation is not None:
            return "conversation", self.conversation.id
        return "folder", self.folder.id if self.folder is not None else ""


def side_rows(conversations: Sequence[Conversation], folders: Sequence[Folder]) -> list[SideRow]:
    """Everything but the archive; ``conversations`` are newest first. One in a folder that is gone stands by time."""
    known = {folder.id for folder in folders}
    inside: dict[str, list[Conversation]] = {folder.id: [] for folder in folders}
    temporary, pinned, by_time = [], [], []
    for one in conversations:
        if one.archived is not None:
            continue
        if one.temporary:
            temporary.append(SideRow(Section.TEMPORARY, one))
        elif one.pinned is not None:
            pinned.append(one)
        elif one.folder in known and one.folder is not None:
            inside[one.folder].append(one)
        else:
            by_time.append(SideRow(Section.BY_TIME, one))
    rows = temporary + [SideRow(Section.PINNED, one) for one in by_hand(pinned)]
    for folder in folders:
        rows.append(SideRow(Section.FOLDERS, None, folder, len(inside[folder.id])))
        if not folder.folded:
            rows += [SideRow(Section.FOLDERS, one, folder) for one in by_hand(inside[folder.id])]
    return rows + by_time


def archive_rows(conversations: Sequence[Conversation]) -> list[SideRow]:
    """The archive, newest first."""
    return [SideRow(Section.ARCHIVE, one) for one in conversations if one.archived is not None]


def by_hand(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Those without a place first, as they come, then the others by their place."""
    placed = [one for one in conversations if one.place is not None]
    free = [one for one in conversations if one.place is None]
    return free + sorted(placed, key=lambda one: one.place or 0.0)
