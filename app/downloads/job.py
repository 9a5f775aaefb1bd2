"""The service's own, changing view of one download."""

from __future__ import annotations

import os
from pathlib import Path

from app.downloads.child import Child
from app.downloads.records import DownloadJob, JobState
from app.downloads.speed import SpeedMeter
from engine.downloads.fetch import target_path
from engine.downloads.messages import Event, Failed, Fetch, Fetched, Limits, Note, Progress, Waiting
from engine.downloads.queue_file import KeptJob, Order, Stand

STAGES = {
    "connecting": JobState.CONNECTING,
    "checking": JobState.CHECKING,
    "loading": JobState.LOADING,
    "repairing": JobState.REPAIRING,
}
MOVING = (JobState.LOADING, JobState.REPAIRING)


class Job:
    """State of one download; knows neither timers nor signals.

    Attributes:
        child: The process that works for it.
        leaving: A process that was ended and is not gone yet; the next one waits for that.
        held: Its files are deleted or looked up just now, so it must not be started.
        limit: Bytes per second that its child may take.
    """

    def __init__(self, number: int, order: Order) -> None:
        """Raises VrambleError: a name is not safe to use."""
        self.number = number
        self.take_order(order)
        self.state = JobState.QUEUED
        self.child: Child | None = None
        self.leaving: Child | None = None
        self.held = False
        self.limit: int | None = None
        self.done = 0
        sizes = [file.size for file in order.files]
        known = [size for size in sizes if size is not None]
        self.total: int | None = sum(known) if len(known) == len(sizes) else None
        self._meter = SpeedMeter()
        self._note = ""
        self.error: Failed | None = None
        self._retry_at = 0.0
        self._verified: bool | None = None
        self._connections = 0

    def take_order(self, order: Order) -> None:
        """What is to be fetched, once that is known."""
        root = Path(os.fsdecode(order.root))
        paths = [Path(os.fsdecode(target)) for target in order.targets]
        self.order = order
        self.root = root
        self.targets = paths or [target_path(root, order.repo, file.path) for file in order.files]

    @property
    def left(self) -> int:
        """Bytes that it will still write, as far as is known."""
        return max(0, self.total - self.done) if self.total is not None else 0

    def request(self, *, create_root: bool, connections: int, promised: int, limits: Limits) -> Fetch:
        """For the child."""
        order = self.order
        return Fetch(
            models=order.root,
            repo=order.repo,
            files=order.files,
            revision=order.revision,
            create_root=create_root,
            connections=connections,
            limit_bytes_s=self.limit,
            repair=order.repair,
            promised=promised,
            targets=order.targets,
            limits=limits,
        )

    def kept(self) -> KeptJob:
        """For the queue's file."""
        stand = Stand.QUEUED if self.state.active else Stand(self.state.value)
        return KeptJob(order=self.order, stand=stand, error=self.error, total=self.total)

    def reset(self, state: JobState = JobState.QUEUED) -> None:
        """Back in the queue, for another try; or out of it for now."""
        self.state = state
        self.error, self._note, self._retry_at, self._connections = None, "", 0.0, 0
        self._meter.clear()

    def take(self, event: Event, now: float) -> None:
        """Follow an event of the child; ``now`` in seconds of a clock that never goes back."""
        if isinstance(event, Progress):
            self._progress(event, now)
            return
        self._connections = 0
        if isinstance(event, Waiting):
            self.state, self._note, self._retry_at = JobState.WAITING, event.reason, now + event.seconds
            self._meter.clear()
        elif isinstance(event, Note):
            self._note = event.text
            self._meter.clear()
        elif isinstance(event, Fetched):
            self.state, self.done, self.total = JobState.DONE, event.size, event.size
            self._verified = event.verified
            self._note = self._note if self.order.repair else ""
        elif isinstance(event, Failed):
            self.state, self.error, self._note = JobState.FAILED, event, ""
            if event.code == "checksum":
                self.done = 0

    def _progress(self, event: Progress, now: float) -> None:
        state = STAGES.get(event.stage, JobState.LOADING)
        if self.state == JobState.WAITING:
            self._note = ""
        self.state, self.done, self._connections = state, event.done, event.connections
        self.total = event.total if event.total is not None else self.total
        if state in MOVING:
            self._meter.add(now, event.done)
        else:
            self._meter.clear()

    def snapshot(self, now: float, hub: str = "", why_queued: str = "") -> DownloadJob:
        """As the window sees it. ``hub``: its address; ``why_queued``: a sentence when nothing is started now."""
        speed = self._meter.speed(now) if self.state in MOVING else None
        left = None
        if speed and self.total is not None:
            left = max(0, self.total - self.done) / speed
        waiting = self.state is JobState.WAITING
        return DownloadJob(
            id=self.number,
            repo=self.order.repo,
            file=self.order.files[0].path,
            target=self.targets[0],
            n_files=len(self.order.files),
            state=self.state,
            done=self.done,
            total=self.total,
            speed=speed,
            seconds_left=left,
            retry_in=max(0.0, self._retry_at - now) if waiting else None,
            note=why_queued if self.state is JobState.QUEUED and why_queued else self._note,
            error=self.error,
            verified=self._verified,
            connections=self._connections,
            repair=self.order.repair,
            page=f"{hub}/{self.order.repo}" if hub and self.order.repo else "",
        )
