"""How much is kept of the KV caches of conversations, and what goes when the context is full."""

from __future__ import annotations

from enum import StrEnum

import msgspec

MIB = 1 << 20


class Overflow(StrEnum):
    """What happens when a conversation is longer than the context."""

    STOP = "stop"
    """The answer ends with reason ``context``; a prompt that is too long is refused."""
    SHIFT = "shift"
    """The oldest part after the system prompt is left out, as often as needed. An answer without ``max_tokens`` ends
    after eight contexts."""


class CachePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Budgets for the caches of conversations that are not in the context now.

    Attributes:
        memory: Bytes of RAM for copies; 0: none. Copies leave 1.5 GiB available.
        disk: Bytes of files that outlive the worker; 0: none are written or read.
        folder: Where those files lie; "": nowhere.
    """

    memory: int = 512 * MIB
    disk: int = 0
    folder: str = ""
