"""A download as the window shows it, and all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.downloads.messages import Failed


class JobState(StrEnum):
    """Where a download is."""

    QUEUED = "queued"
    """Waits for its turn, or for the end of offline mode."""
    CONNECTING = "connecting"
    CHECKING = "checking"
    """Bytes on the disk are read and hashed."""
    LOADING = "loading"
    REPAIRING = "repairing"
    """As loading, of blocks that were found to be wrong."""
    WAITING = "waiting"
    """Between two attempts."""
    PAUSED = "paused"
    """By the user; stays so over a restart."""
    INTERRUPTED = "interrupted"
    """Left unfinished by something else than this queue; can be taken up again."""
    FAILED = "failed"
    DONE = "done"

    @property
    def active(self) -> bool:
        """It goes on by itself."""
        return self not in (JobState.PAUSED, JobState.INTERRUPTED, JobState.FAILED, JobState.DONE)

    @property
    def resumable(self) -> bool:
        """`DownloadService.resume` takes it up again."""
        return self in (JobState.PAUSED, JobState.INTERRUPTED, JobState.FAILED)


class DownloadJob(msgspec.Struct, frozen=True, kw_only=True):
    """One download. The order of `DownloadService.jobs` is the order of the queue.

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
        connections: Connections that are open for it now.
        repair: Mends a model that is here instead of fetching one that is not.
        page: Address of the repository's page: where the terms of a gated one are accepted.
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
    connections: int = 0
    repair: bool = False
    page: str = ""


class QueueSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All downloads in a few numbers: for the footer and the launcher's progress.

    Attributes:
        active: Downloads that go on by themselves, those that wait for their turn among them.
        stopped: Paused, interrupted and failed ones.
        done: Bytes here of the active ones.
        total: Bytes of the active ones; None while one is unknown.
        speed: Bytes per second of all; None when nothing is loaded or nothing is known yet.
        seconds_left: None when not known.
    """

    active: int = 0
    stopped: int = 0
    done: int = 0
    total: int | None = 0
    speed: float | None = None
    seconds_left: float | None = None

    @property
    def fraction(self) -> float | None:
        """How much of the active ones is here, 0 to 1; None when nothing is active or the sizes are unknown."""
        return min(1.0, self.done / self.total) if self.active and self.total else None


def summary_of(jobs: Iterable[DownloadJob]) -> QueueSummary:
    """``jobs`` in a few numbers."""
    active, stopped = [], 0
    for job in jobs:
        if job.state.active:
            active.append(job)
        elif job.state.resumable:
            stopped += 1
    totals = [job.total for job in active]
    known = [total for total in totals if total is not None]
    total = sum(known) if len(known) == len(totals) else None
    speeds = [job.speed for job in active if job.speed is not None]
    speed = sum(speeds) if speeds else None
    done = sum(job.done for job in active)
    return QueueSummary(
        active=len(active),
        stopped=stopped,
        done=done,
        total=total,
        speed=speed,
        seconds_left=max(0, total - done) / speed if speed and total is not None else None,
    )
