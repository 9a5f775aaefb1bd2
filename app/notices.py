"""Things the user should know, with what can be done about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from engine.errors import VrambleError


class Severity(StrEnum):
    """How loud a notice is."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True)
class Action:
    """A button of a notice."""

    label: str
    run: Callable[[], None]


@dataclass(frozen=True)
class Notice:
    """One message. ``key`` replaces an earlier notice with the same key instead of piling up."""

    key: str
    severity: Severity
    text: str
    detail: str = ""
    actions: tuple[Action, ...] = field(default=())
    timeout_ms: int = 0
    """0 stays until closed."""


def from_error(key: str, error: VrambleError, actions: tuple[Action, ...] = ()) -> Notice:
    """The notice for a failure that has a sentence."""
    return Notice(key, Severity.ERROR, error.sentence, error.detail, actions)


class Notices(QObject):
    """The one channel: features post here, the window shows.

    Attributes:
        closed: The notice with this key was closed by the user or by its time, or an action was taken.
    """

    posted = Signal(object)
    withdrawn = Signal(str)
    closed = Signal(str)

    def post(self, notice: Notice) -> None:
        """Show ``notice``, in place of one with the same key."""
        self.posted.emit(notice)

    def withdraw(self, key: str) -> None:
        """Take the notice with ``key`` away, if it is shown."""
        self.withdrawn.emit(key)
