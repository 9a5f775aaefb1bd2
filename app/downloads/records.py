"""A download as the window shows it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from engine.downloads.messages import Failed


class JobState(StrEnum):
    """Where a download is. The first five are active."""

    QUEUED = "queued"
    CONNECTING = "connecting"
    CHECKING = "checking"
    """Bytes on the disk are read and hashed."""
    LOADING = "loading"
    WAITING = "waiting"
    """Between two attempts."""
    INTERRUPTED = "interrupted"
    """Left unfinished by an earlier run; can be taken up again."""
    FAILED = "failed"
    DONE = "done"

    @property
    def active(self) -> bool:
        """It goes on by itself."""
        return self not in (JobState.INTERRUPTED, JobState.FAILED, JobState.DONE)


class DownloadJob(msgspec.Struct, frozen=True, kw_only=True):
    """One download.

    Attributes:
        id: Stays the same while the program runs.
        repo: ``owner/repo``.
        file: Path in the repository; of a split set the first part's.
        target: Where the (first) file will lie.
        n_files: Parts of the model.
        state: See `JobState`.
        done: Bytes here.
        total: Bytes in all; None while unknown.
        speed: Bytes per second over the last seconds; None when not loading or not known yet.
        seconds_left: None when not known.
        retry_in: Seconds until the next attempt while waiting.
        note: A sentence about what happens, or empty.
        error: Why it failed.
        verified: Done, and the checksum was right (None: not done).
    """

    id: int
    repo: str
    file: str
    target: Path
    n_files: int
    state: JobState
    done: int = 0
    total: int | None = None
    speed: float | None = None
    seconds_left: float | None = None
    retry_in: float | None = None
    note: str = ""
    error: Failed | None = None
    verified: bool | None = None
