"""What the transcript needs to know of a row; `app.chat` hands out records that have it."""

from __future__ import annotations

from typing import Protocol

from engine.chat.records import Role, Status
from engine.protocol.types import GenerationStats


class Row(Protocol):
    """One message as it is shown.

    Attributes:
        author: "You" or the model's name.
        error: Sentence for the user, shown inside the message.
        version: Number of this version from 1; ``versions`` is how many there are.
        progress: What happens before the first token; empty when nothing is to be said.
    """

    @property
    def id(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def text(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def author(self) -> str: ...
    @property
    def stats(self) -> GenerationStats | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def version(self) -> int: ...
    @property
    def versions(self) -> int: ...
    @property
    def progress(self) -> str: ...


def is_user(row: Row) -> bool:
    """Whether the message stands in a bubble."""
    return row.role is Role.USER


def is_open(row: Row) -> bool:
    """Whether more text may come."""
    return row.status is Status.STREAMING
