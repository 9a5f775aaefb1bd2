"""Settings of the memory feature."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Park(StrEnum):
    """What happens to the model when the system runs short of memory."""

    NEVER = "never"
    """Nothing is offered; only when programs are about to be ended by the system, it is told."""
    ASK = "ask"
    AUTOMATICALLY = "automatically"


class MemorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Attributes:
    park: Give the model's memory back when memory is short; it is loaded again with one click.
    """

    park: Park = Park.ASK
