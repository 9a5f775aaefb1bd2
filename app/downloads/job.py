"""The service's own, changing view of one download."""

from __future__ import annotations

import os
from pathlib import Path

from app.downloads.child import Child
from app.downloads.records import DownloadJob, JobState
from app.downloads.speed import SpeedMeter
from engine.downloads.fetch import target_path
from engine.downloads.messages import Event, Failed, Fetch, Fetched, Limits, Note, Progress, Waiting
from engine.library.listing import FilePart

STAGES = {
    "connecting": JobState.CONNECTING,
    "checking": JobState.CHECKING,
    "loading": JobState.LOADING,
}


class Job:
    """State of one download; knows neither timers nor signals."""

    def __init__(self, number: int, models: Path, repo: str, files: tuple[FilePart, ...], revision: str) -> None:
        self.number = number
        self.repo = repo
        self.files = files
        self.revision = revision
        self.target = target_path(models, repo, files[0].path)
        self.state = JobState.QUEUED
        self.child: Child | None = None
        self.done = 0
        sizes = [file.size for file in files]
        known = [size for size in sizes if size is not None]
        self.total: int | None = sum(known) if len(known) == len(sizes) else None
        self._meter = SpeedMeter()
        self._note = ""
        self._error: Failed | None = None
        self._retry_at = 0.0
        self._verified: bool | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What two downloads must not have in common."""
        return self.repo, self.files[0].path

    def request(self, models: Path, limits: Limits, create_root: bool) -> Fetch:
        """For the child."""
        return Fetch(
            models=os.fsencode(models),
            repo=self.repo,
            files=self.files,
            revision=self.revision,
            create_root=create_root,
            limits=limits,
        )

    def reset(self) -> None:
        """Back in the queue, for another try."""
        self.state = JobState.QUEUED
        self._error, self._note, self._retry_at = None, "", 0.0
        self._meter.clear()

    def take(self, event: Event, now: float) -> None:
        """Follow an event of the child; ``now`` in seconds of a clock that never goes back."""
        if isinstance(event, Progress):
            self._progress(event, now)
        elif isinstance(event, Waiting):
            self.state, self._note, self._retry_at = JobState.WAITING, event.reason, now + event.seconds
            self._meter.clear()
        elif isinstance(event, Note):
            self._note = event.text
            self._meter.clear()
        elif isinstance(event, Fetched):
            self.state, self.done, self.total = JobState.DONE, event.size, event.size
            self._verified, self._note = event.verified, ""
        elif isinstance(event, Failed):
            self.state, self._error, self._note = JobState.FAILED, event, ""
            if event.code == "checksum":
                self.done = 0

    def _progress(self, event: Progress, now: float) -> None:
        state = STAGES.get(event.stage, JobState.LOADING)
        if self.state == JobState.WAITING:
            self._note = ""
        self.state, self.done = state, event.done
        self.total = event.total if event.total is not None else self.total
        if state is JobState.LOADING:
            self._meter.add(now, event.done)
        else:
            self._meter.clear()

    def snapshot(self, now: float) -> DownloadJob:
        """As the window sees it."""
        speed = self._meter.speed(now) if self.state is JobState.LOADING else None
        left = None
        if speed and self.total is not None:
            left = max(0, self.total - self.done) / speed
        waiting = self.state is JobState.WAITING
        return DownloadJob(
            id=self.number,
            repo=self.repo,
            file=self.files[0].path,
            target=self.target,
            n_files=len(self.files),
            state=self.state,
            done=self.done,
            total=self.total,
            speed=speed,
            seconds_left=left,
            retry_in=max(0.0, self._retry_at - now) if waiting else None,
            note=self._note,
            error=self._error,
            verified=self._verified,
        )
