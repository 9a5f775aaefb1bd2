"""What loads taught, kept as one JSON file: measured facts of this machine, no settings.

The window and commands may write at the same time, so each change is made to what the file holds, under a lock.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from engine.memory.fit.correction import FitHistory, LoadKey, LoadRecord

MOST_BYTES: Final = 4 << 20
"""A longer file is none of ours."""

_decoder = msgspec.json.Decoder(FitHistory)


def read_fit_history(path: Path) -> FitHistory:
    """What the file holds; nothing of a file that makes no sense. Raises OSError for one that cannot be read."""
    try:
        with path.open("rb") as file:
            return _decode(file.read(MOST_BYTES + 1))
    except FileNotFoundError:
        return FitHistory()


def add_to_fit_history(path: Path, records: Sequence[LoadRecord]) -> FitHistory:
    """Keep ``records`` too, and give all that is kept now. Raises OSError."""

    def add(history: FitHistory) -> FitHistory:
        for record in records:
            history = history.with_record(record)
        return history

    return _change(path, add)


def forget_fit_history(path: Path, keys: Sequence[LoadKey]) -> FitHistory:
    """Forget what was learned for these cards, and give what is left. Raises OSError."""
    return _change(path, lambda history: history.without(keys))


def keep_ram_speed(path: Path, speed: float) -> FitHistory:
    """Keep how fast the RAM is, bytes a second, unless it was faster before, and give all that is kept now.

    Raises OSError.
    """
    return _change(path, lambda history: FitHistory(history.records, max(speed, history.ram or 0.0)))


def _change(path: Path, change: Callable[[FitHistory], FitHistory]) -> FitHistory:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        changed = change(_decode(file.read(MOST_BYTES + 1)))
        file.truncate(0)
        file.write(msgspec.json.encode(changed))
        file.flush()
        os.fsync(file.fileno())
    return changed


def _decode(data: bytes) -> FitHistory:
    if not data or len(data) > MOST_BYTES:
        return FitHistory()
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return FitHistory()
