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

    def __init__(self, report: Report, every_s: float, sizes: list[int | None]) -> None:
        self._report = report
        self._every_s = every_s
        self._last = float("-inf")
        self._sizes = sizes
        self._present = 0
        self.before = 0

    @property
    def total(self) -> int | None:
        """Size of all files; None while one is unknown."""
        known = [size for size in self._sizes if size is not None]
        return sum(known) if len(known) == len(self._sizes) else None

    def know(self, size: int | None) -> None:
        """The present file turned out to have ``size`` bytes."""
        if size is not None:
            self._sizes[self._present] = size

    def next_file(self, size: int) -> None:
        """The present file is finished, with ``size`` bytes."""
        self.before += size
        self._present += 1

    def show(self, stage: str, done: int, *, connections: int = 0, now: bool = False) -> None:
        """``done`` bytes of the present file; ``now`` skips no report."""
        clock = time.monotonic()
        if now or clock - self._last >= self._every_s:
            self._last = clock
            self._report(Progress(stage=stage, done=self.before + done, total=self.total, connections=connections))


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
