"""Benches at real-time priority, one at a time: two that spin on the same processors hold everything else up."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXCLUSIVE = ("chrt", "-f", "1")
"""Before a command: real-time priority, also for its children."""

LOCK = Path(tempfile.gettempdir()) / "vramble-exclusive-bench.lock"


@contextmanager
def alone(wanted: bool = True) -> Iterator[None]:
    """Wait for other exclusive benches, and hold them off meanwhile; nothing happens unless ``wanted``."""
    if not wanted:
        yield
        return
    with LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
