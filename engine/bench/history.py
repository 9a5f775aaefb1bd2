"""Earlier benchmarks, one JSON line each, so that the effect of an update is seen.

The file is the program's own; the window and commands write to it at any time, so a report is one append under a lock.
Lines that make no sense, and those of newer versions with what is not known here, harm nothing.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

from engine.bench.records import Report
from engine.library.regular import read_regular

MOST_BYTES: Final = 4 << 20
"""Beyond that the older half is dropped."""


def read_history(path: Path) -> tuple[Report, ...]:
    """All reports, the oldest first. Raises OSError for a file that is there and cannot be read."""
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return ()
    return tuple(report for line in data.splitlines() if (report := _decode(line)) is not None)


def add_to_history(path: Path, report: Report) -> None:
    """Append ``report``. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = msgspec.json.encode(report) + b"\n"
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        before = file.read()
        if len(before) + len(line) > MOST_BYTES:
            lines = before.splitlines(keepends=True)
            file.truncate(0)
            line = b"".join(lines[len(lines) // 2 :]) + line
        elif before and not before.endswith(b"\n"):
            line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _decode(line: bytes) -> Report | None:
    try:
        return msgspec.json.decode(line, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write an export. Raises OSError."""
    path.write_text(text, encoding="utf-8")
