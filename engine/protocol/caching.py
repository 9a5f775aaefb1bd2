"""How much is kept of the KV caches of conversations."""

from __future__ import annotations

import msgspec

MIB = 1 << 20


class CachePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Budgets for the caches of conversations that are not in the context now.

    Attributes:
        memory: Bytes of RAM for copies; 0: none. Copies never take the last GiB that is free.
        disk: Bytes of files that outlive the worker; 0: none are written or read.
        folder: Where those files lie; "": nowhere.
    """

    memory: int = 512 * MIB
    disk: int = 0
    folder: str = ""
