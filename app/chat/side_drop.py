"""What dropping rows of the list means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.chat.side_rows import Section, SideRow


class Dropped(NamedTuple):
    """A command: a new order of the folders, or conversations that go to a section.

    Attributes:
        folder: For `Section.FOLDERS`; None: in none.
        order: All conversations that stand there then, in order; empty: as they come.
    """

    section: Section
    conversations: tuple[str, ...] = ()
    folder: str | None = None
    order: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def drop_on(rows: Sequence[SideRow], dragged: Sequence[SideRow], before: int, on: int | None) -> Dropped | None:
    """What it means that ``dragged`` was dropped on row number ``on``, or before row ``before`` (-1: at the end)."""
    folders = tuple(row.folder.id for row in dragged if row.conversation is None and row.folder is not None)
    if folders:
        return _folders(rows, folders, on if on is not None else before)
    moved = tuple(row.conversation.id for row in dragged if row.conversation is not None)
    if not moved:
        return None
    if on is not None:
        return _at(rows, moved, rows[on], on)
    place = len(rows) if before < 0 else before
    above = rows[place - 1] if place > 0 else None
    below = rows[place] if place < len(rows) else None
    if above is not None and above.section in (Section.PINNED, Section.FOLDERS):
        folded = above.conversation is None and above.folder is not None and above.folder.folded
        return Dropped(Section.BY_TIME, moved) if folded else _at(rows, moved, above, place)
    if below is not None and below.section is Section.PINNED:
        return _at(rows, moved, below, place)
    return Dropped(Section.BY_TIME, moved)


def _at(rows: Sequence[SideRow], moved: tuple[str, ...], there: SideRow, place: int) -> Dropped:
    """Into the section of ``there``; on a folder's own row without an order."""
    if there.section is Section.FOLDERS and there.folder is not None:
        if there.conversation is None and place < len(rows) and rows[place] is there:
            return Dropped(Section.FOLDERS, moved, there.folder.id)
        members = [
            (at, row.conversation.id)
            for at, row in enumerate(rows)
            if row.conversation is not None and row.folder is not None and row.folder.id == there.folder.id
        ]
        return Dropped(Section.FOLDERS, moved, there.folder.id, _ordered(members, moved, place))
    if there.section is Section.PINNED:
        members = [
            (at, row.conversation.id)
            for at, row in enumerate(rows)
            if row.section is Section.PINNED and row.conversation
        ]
        return Dropped(Section.PINNED, moved, order=_ordered(members, moved, place))
    return Dropped(Section.BY_TIME, moved)


def _ordered(members: Sequence[tuple[int, str]], moved: tuple[str, ...], place: int) -> tuple[str, ...]:
    above = [id_ for at, id_ in members if at < place and id_ not in moved]
    below = [id_ for at, id_ in members if at >= place and id_ not in moved]
    return (*above, *moved, *below)


def _folders(rows: Sequence[SideRow], moved: tuple[str, ...], place: int) -> Dropped:
    place = len(rows) if place < 0 else place
    every = [(at, row.folder.id) for at, row in enumerate(rows) if row.conversation is None and row.folder is not None]
    return Dropped(Section.FOLDERS, folders=_ordered(every, moved, place))
