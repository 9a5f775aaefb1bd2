"""How far a download is, reported not too often."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from engine.downloads.messages import Event, Progress

Report = Callable[[Event], None]


class Meter:
    """Adds up the files and reports not too often."""

    def __init__(self, report: Report, every_s: float, total: int | None) -> None:
        self._report = report
        self._every_s = every_s
        self._last = float("-inf")
        self.total = total
        self.before = 0

    def show(self, stage: str, done: int, *, now: bool = False) -> None:
        """``done`` bytes of the present file; ``now`` skips no report."""
        clock = time.monotonic()
        if now or clock - self._last >= self._every_s:
            self._last = clock
            self._report(Progress(stage=stage, done=self.before + done, total=self.total))


def size_on_disk(path: Path) -> int:
    """Bytes of the file at ``path``; 0 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def sha256_of(path: Path, meter: Meter) -> str:
    """Of the file at ``path``, as hexadecimal digits; empty when it cannot be read."""
    done, digest = 0, hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                done += len(block)
                meter.show("checking", done)
    except OSError:
        return ""
    return digest.hexdigest()
