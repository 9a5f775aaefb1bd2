"""Conversations outside of the database: whole, with all branches, by value."""

from __future__ import annotations

from typing import Any

import msgspec


class PortablePart(msgspec.Struct, frozen=True, omit_defaults=True):
    """One piece of a message. ``position`` orders the parts; thoughts stand before the text at -1."""

    kind: str = "text"
    content: str = ""
    position: int = 0


class PortableMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of the tree. ``settings`` and ``stats`` are plain values as the database has them in JSON."""

    id: str
    parent: str | None = None
    role: str = "user"
    status: str = "done"
    created: float = 0.0
    model: str | None = None
    settings: Any = None
    stats: Any = None
    finish: str | None = None
    error: str | None = None
    thought_s: float | None = None
    parts: tuple[PortablePart, ...] = ()

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(part.content for part in self.parts if part.kind == "text")

    @property
    def thinking(self) -> str:
        """What was thought before."""
        return "".join(part.content for part in self.parts if part.kind == "thinking")


class PortableConversation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One conversation; parents come before their children. ``folder`` is a title."""

    id: str
    title: str = ""
    titled: str | None = None
    created: float = 0.0
    updated: float = 0.0
    tip: str | None = None
    folder: str | None = None
    pinned: bool = False
    archived: bool = False
    settings: Any = None
    messages: tuple[PortableMessage, ...] = ()

    def shown(self) -> tuple[PortableMessage, ...]:
        """The messages of the branch that is shown, first one first."""
        known = {message.id: message for message in self.messages}
        found: list[PortableMessage] = []
        seen: set[str] = set()
        at = known.get(self.tip or "") or (self.messages[-1] if self.messages else None)
        while at is not None and at.id not in seen:
            seen.add(at.id)
            found.append(at)
            at = known.get(at.parent or "")
        return tuple(reversed(found))
