"""What the user can ask for at a message and the transcript cannot do itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from app.chat.rows import can_continue
from engine.chat.records import Role
from ui.chat.transcript.row import Row, is_open, is_user


class Command(Enum):
    """What should be done with a message."""

    EDIT = auto()
    CONTINUE = auto()
    REGENERATE = auto()
    BRANCH = auto()
    DELETE = auto()
    DETAILS = auto()
    SUMMARY_EDIT = auto()
    SUMMARY_AGAIN = auto()
    SUMMARY_REMOVE = auto()
    SUMMARY_STOP = auto()


class Asked(NamedTuple):
    """A command, the id of its message, and with which model (None: the one that is loaded)."""

    command: Command
    message: str
    model: Path | None = None


class NamedModel(NamedTuple):
    """An installed model that can answer."""

    name: str
    path: Path


Models = Callable[[], Sequence[NamedModel]]


_OF_SUMMARIES = (Command.SUMMARY_EDIT, Command.SUMMARY_AGAIN, Command.SUMMARY_REMOVE, Command.SUMMARY_STOP)


def applies(command: Command, rows: Sequence[Row], row: Row) -> bool:
    """Whether ``command`` makes sense for ``row`` of ``rows`` now."""
    if row.stands_for or command in _OF_SUMMARIES:
        return bool(row.stands_for) and _applies_to_summary(command, rows, row)
    if is_open(rows[-1]):
        return command is Command.BRANCH and not is_open(row)
    if command is Command.EDIT:
        return is_user(row)
    if command is Command.CONTINUE:
        return row.id == rows[-1].id and can_continue(row)
    if command is Command.REGENERATE:
        return row.role is Role.ASSISTANT or row.id == rows[-1].id
    return True


def _applies_to_summary(command: Command, rows: Sequence[Row], row: Row) -> bool:
    if is_open(row):
        return command is Command.SUMMARY_STOP
    if is_open(rows[-1]) or command not in _OF_SUMMARIES:
        return False
    return command in (Command.SUMMARY_EDIT, Command.SUMMARY_AGAIN) or (
        command is Command.SUMMARY_REMOVE and bool(row.text)
    )
