"""Whether processes are there."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from tests.fakes.fake_worker import journal_entries


def gone(pid: int, seconds: float = 90) -> bool:
    """The process has ended, or does so within ``seconds``; one that nobody reaped counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def frames(journal: Path, kind: str) -> list[dict[str, Any]]:
    """Frames of a kind that the fake worker got."""
    return [entry["frame"] for entry in journal_entries(journal) if entry.get("frame", {}).get("type") == kind]
