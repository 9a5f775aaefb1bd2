"""Owner of the downloads: a queue, one child process for each active one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.downloads.child import Child
from app.downloads.job import Job
from app.downloads.records import DownloadJob, JobState
from app.jobs import Err, Executor, Result, SerialRunner
from engine.downloads.messages import Event, Failed, Limits, Listed, ListRepo
from engine.downloads.restore import Interrupted, discard, find_interrupted
from engine.library.listing import FilePart, RepoFile, RepoListing

__all__ = ["DownloadJob", "DownloadService", "JobState", "RepoListing"]

PUBLISH_MS = 250
ACTIVE = 2
"""Children at the same time; more of them only share the same line."""


class DownloadService(QObject):
    """Lists repositories and downloads files.

    Attributes:
        jobs_changed: `jobs` is another tuple now; at most four times a second.
        listed: A `RepoListing`, or the `VrambleError` why there is none.
        finished: A `DownloadJob` that is done or has failed.
    """

    jobs_changed = Signal()
    listed = Signal(object)
    finished = Signal(object)

    def __init__(
        self,
        models: Path,
        executor: Executor,
        parent: QObject | None = None,
        *,
        create_root: bool = True,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``create_root``: make the models folder when it is not there (see `Fetch`)."""
        super().__init__(parent)
        self._models = models
        self._create_root = create_root
        self._limits = limits or Limits()
        self._clock = clock
        self._runner = SerialRunner(executor, self)
        self._jobs: list[Job] = []
        self._children: set[Child] = set()
        self._removing: set[tuple[str, str]] = set()
        self._next_id = 1
        self._lister: Child | None = None
        self._listing: RepoListing | None = None
        self._closed = False
        self._dirty = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PUBLISH_MS)
        self._timer.timeout.connect(self._tick)
        self._runner.run(lambda: find_interrupted(models), self._restore)

    @property
    def jobs(self) -> tuple[DownloadJob, ...]:
        """All downloads, oldest first, as they are now."""
        now = self._clock()
        return tuple(job.snapshot(now) for job in self._jobs)

    @property
    def listing(self) -> bool:
        """A listing is on its way."""
        return self._lister is not None

    # ---- listing

    def list_files(self, repo: str) -> None:
        """Ask the Hub for the GGUF files of ``repo``; answers an earlier question no more."""
        self.cancel_listing()
        if self._closed:
            return
        self._lister = self._new_child()
        self._lister.ended.connect(self._take_listing)
        self._lister.start(ListRepo(text=repo))

    def cancel_listing(self) -> None:
        """Want no answer any more."""
        if self._lister is not None:
            lister, self._lister = self._lister, None
            lister.kill()

    def _take_listing(self, event: Event) -> None:
        self._lister = None
        if isinstance(event, Listed):
            self._listing = event.listing
            self.listed.emit(event.listing)
        elif isinstance(event, Failed):
            self.listed.emit(event.error())

    # ---- downloads

    def start(self, repo: str, file: str | RepoFile) -> int:
        """Download ``file`` of ``repo`` and give the job's id; a download that is there is taken up again.

        A path is looked up in the last listing, so that all parts of a split set are fetched.

        Raises:
            VrambleError: The name is not safe to use.
        """
        known = self._listing if self._listing is not None and self._listing.repo == repo else None
        files = file.parts if isinstance(file, RepoFile) else _parts_of(known, file)
        for job in self._jobs:
            if job.key == (repo, files[0].path) and job.state is not JobState.DONE:
                self.retry(job.number)
                return job.number
        job = self._add(repo, files, known.revision if known else "main")
        self._publish()
        self._pump()
        return job.number

    def _add(self, repo: str, files: tuple[FilePart, ...], revision: str) -> Job:
        job = Job(self._next_id, self._models, repo, files, revision)
        self._next_id += 1
        self._jobs = [old for old in self._jobs if old.key != job.key]
        self._jobs.append(job)
        return job

    def cancel(self, job_id: int) -> None:
        """Stop it, forget it and delete what is here of it."""
        job = self._find(job_id)
        if job is None or job.state is JobState.DONE:
            return
        self._jobs.remove(job)
        self._removing.add(job.key)
        child, job.child = job.child, None
        if child is not None:
            child.gone.connect(lambda _child: self._remove(job))
            child.kill()
        else:
            self._remove(job)
        self._publish()
        self._pump()

    def retry(self, job_id: int) -> None:
        """Take a failed or interrupted download up again."""
        job = self._find(job_id)
        if job is not None and job.state in (JobState.FAILED, JobState.INTERRUPTED):
            job.reset()
            self._publish()
            self._pump()

    def dismiss(self, job_id: int) -> None:
        """Take a download that is done or has failed off the list; what is on the disk stays."""
        job = self._find(job_id)
        if job is not None and not job.state.active:
            self._jobs.remove(job)
            self._publish()

    def shutdown(self) -> None:
        """End all children, keeping partial files, before this returns. Only for quitting."""
        self._closed = True
        self._timer.stop()
        for child in tuple(self._children):
            child.shutdown()
        self._children.clear()
        self._lister = None
        for job in self._jobs:
            job.child = None
        self._runner.close()

    # ---- inside

    def _find(self, job_id: int) -> Job | None:
        return next((job for job in self._jobs if job.number == job_id), None)

    def _pump(self) -> None:
        """Start children for queued downloads while there is room."""
        for job in self._jobs:
            if self._closed or sum(other.child is not None for other in self._jobs) >= ACTIVE:
                return
            if job.state is JobState.QUEUED and job.child is None and job.key not in self._removing:
                self._launch(job)

    def _launch(self, job: Job) -> None:
        child = self._new_child()
        job.child = child
        job.state = JobState.CONNECTING
        child.reported.connect(lambda event: self._take(job, event))
        child.ended.connect(lambda event: self._end(job, event))
        child.start(job.request(self._models, self._limits, self._create_root))

    def _new_child(self) -> Child:
        child = Child(self)
        self._children.add(child)
        child.gone.connect(self._forget)
        return child

    def _forget(self, child: Child) -> None:
        self._children.discard(child)
        child.deleteLater()

    def _take(self, job: Job, event: Event) -> None:
        job.take(event, self._clock())
        self._publish()

    def _end(self, job: Job, event: Event) -> None:
        job.child = None
        job.take(event, self._clock())
        self._publish()
        self.finished.emit(job.snapshot(self._clock()))
        self._pump()

    def _remove(self, job: Job) -> None:
        models = self._models
        self._runner.run(lambda: discard(models, job.repo, job.files), lambda result: self._removed(job, result))

    def _removed(self, job: Job, result: Result[int]) -> None:
        self._removing.discard(job.key)
        if isinstance(result, Err):
            self._not_removed(job, result.error)
        self._pump()

    def _not_removed(self, job: Job, error: Exception) -> None:
        """The bytes are still there, so the download is shown again, with the reason."""
        if not isinstance(error, OSError):
            raise error
        reason = Failed(
            code="delete-failed",
            message=f"What was downloaded of {job.target.name} could not be deleted: {error.strerror or error}.",
            next_step="Check who owns the folder and whether it can be written to.",
        )
        job.take(reason, self._clock())
        if all(other.key != job.key for other in self._jobs):
            self._jobs.append(job)
        self._publish()

    def _restore(self, result: Result[tuple[Interrupted, ...]]) -> None:
        if isinstance(result, Err):
            if not isinstance(result.error, OSError):
                raise result.error
            return
        taken = {job.key for job in self._jobs}
        for found in result.value:
            if (found.repo, found.files[0].path) not in taken:
                job = self._add(found.repo, found.files, found.revision)
                job.state, job.done, job.total = JobState.INTERRUPTED, found.done, found.total
        self._publish()

    def _publish(self) -> None:
        """Tell of a change: at once when it is the first for a while, else a little later."""
        self._dirty = True
        if not self._timer.isActive() and not self._closed:
            self._tick()

    def _tick(self) -> None:
        if any(job.state is JobState.WAITING for job in self._jobs):
            self._dirty = True
        if self._dirty:
            self._dirty = False
            self._timer.start()
            self.jobs_changed.emit()


def _parts_of(listing: RepoListing | None, path: str) -> tuple[FilePart, ...]:
    """All parts of the model that begins with ``path``, as far as it is known."""
    for file in listing.files if listing is not None else ():
        if file.path == path:
            return file.parts
    return (FilePart(path=path),)
