"""A sample as ``vramble memory --json`` prints it."""

from __future__ import annotations

import msgspec

from engine.memory.records import MemorySnapshot


def as_json(snapshot: MemorySnapshot) -> dict[str, object]:
    """The object that ``vramble memory --json`` prints."""
    names = ("gpus", "ram", "programs", "battery", "sandboxed")
    return {name: msgspec.to_builtins(getattr(snapshot, name)) for name in names}
