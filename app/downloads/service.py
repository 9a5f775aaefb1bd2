"""Owner of the downloads: a queue, one child process for each active one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.downloads.awake import KeepAwake
from app.downloads.file_work import repair_order
from app.downloads.keeping import Keeping
from app.downloads.lister import Lister
from app.downloads.network import Network
from app.downloads.records import DownloadJob, JobState, QueueSummary, summary_of
from app.downloads.running import Running
from app.downloads.settings import DownloadSettings
from app.jobs import Executor, SerialRunner
from app.settings.store import SettingsStore
from engine.downloads.messages import Limits
from engine.downloads.queue_file import Order
from engine.library.listing import RepoFile, RepoListing
from engine.library.origin import Origin

__all__ = ["DownloadJob", "DownloadService", "DownloadSettings", "JobState", "QueueSummary", "RepoListing"]


class DownloadService(QObject):
    """Lists repositories, downloads files and mends them.

    Attributes:
        jobs_changed: `jobs` is another tuple now; at most four times a second.
        listed: A `RepoListing`, or the `VrambleError` why there is none.
        finished: A `DownloadJob` that is done or has failed.
        lister: Asks for listings.
        awake: Keeps the computer awake while something is downloaded.
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
        store: SettingsStore | None = None,
        queue_file: Path | None = None,
        awake: KeepAwake | None = None,
    ) -> None:
        """``create_root``: make the models folder when it is not there (see `Fetch`).

        Without ``queue_file`` the queue is forgotten at the end, and found again as interrupted downloads.
        """
        super().__init__(parent)
        self._models = models
        self._closed = False
        self._network = Network(store)
        self.awake = awake or KeepAwake(None, None, self)
        self.lister = Lister(self)
        self.lister.listed.connect(self.listed)
        self._running = Running(
            Keeping(models, queue_file, SerialRunner(executor, self), self),
            self._network,
            lambda job: create_root and job.root == models and not job.order.repair,
            limits or Limits(persistent=True),
            clock,
            self.awake,
            self,
        )
        self._queue = self._running.queue
        self._running.told.connect(self.jobs_changed)
        self._running.finished.connect(self.finished)
        if store is not None:
            store.changed.connect(self._running.settings_changed)

    @property
    def settings(self) -> DownloadSettings:
        """As they are now."""
        return self._network.settings

    @property
    def offline(self) -> bool:
        """Nothing is asked of the network."""
        return self._network.offline

    @property
    def jobs(self) -> tuple[DownloadJob, ...]:
        """All downloads in the order of the queue, as they are now."""
        return self._running.snapshots()

    @property
    def summary(self) -> QueueSummary:
        """All downloads in a few numbers."""
        return summary_of(self.jobs)

    @property
    def listing(self) -> bool:
        """A listing is on its way."""
        return self.lister.is_asking

    def list_files(self, repo: str) -> None:
        """Ask the Hub for the GGUF files of ``repo``; answers an earlier question no more."""
        if not self._closed:
            self.lister.ask(repo, self._network.environ())

    def cancel_listing(self) -> None:
        """Want no answer any more."""
        self.lister.cancel()

    # ---- downloads

    def start(self, repo: str, file: str | RepoFile, *, root: Path | None = None, revision: str | None = None) -> int:
        """Download ``file`` of ``repo`` and give the job's id; a download that is there is taken up again.

        A path is looked up in the last listing, so that all parts of a split set are fetched.

        Args:
            root: Models folder it goes to; None: the own one.
            revision: Branch, tag or commit; None: that of the last listing.

        Raises:
            VrambleError: The name is not safe to use.
        """
        files, listed = self.lister.parts_of(repo, file.path if isinstance(file, RepoFile) else file)
        files = file.parts if isinstance(file, RepoFile) else files
        place = os.fsencode(root or self._models)
        return self._enter(Order(root=place, repo=repo, revision=revision or listed, files=files))

    def repair(self, path: Path, origin: Origin | None = None, parts: Sequence[Path] = ()) -> int:
        """Look what is wrong with a model that is here, and fetch that again; gives the job's id.

        Args:
            path: Of the (first) file.
            origin: Where it came from, if the file beside it does not say so.
            parts: All files of a split set.
        """
        return self._enter(repair_order(path, parts), origin)

    def _enter(self, order: Order, origin: Origin | None = None) -> int:
        known = self._queue.unfinished(order)
        if known is not None:
            self.retry(known.number)
            return known.number
        job = self._queue.add(order)
        self._running.work.hold_back(job)
        if order.repair:
            self._running.work.look_up(job, origin)
        self._running.changed()
        return job.number

    def pause(self, job_id: int) -> None:
        """Stop it for now; what is here stays, also over a restart."""
        job = self._queue.find(job_id)
        if job is not None and job.state.active and not job.held:
            job.reset(JobState.PAUSED)
            self._running.launcher.stop(job)
            self._running.changed()

    def resume(self, job_id: int) -> None:
        """Take a paused, failed or interrupted download up again."""
        self.retry(job_id)

    def retry(self, job_id: int) -> None:
        """The same: `resume` by another name."""
        job = self._queue.find(job_id)
        if job is not None and job.state.resumable:
            job.reset()
            self._running.changed()

    def pause_all(self) -> None:
        """`pause` for all that are active."""
        for job in self._queue:
            self.pause(job.number)

    def resume_all(self) -> None:
        """`resume` for all that are paused or interrupted, not for those that failed."""
        for job in self._queue:
            if job.state in (JobState.PAUSED, JobState.INTERRUPTED):
                self.resume(job.number)

    def move(self, job_id: int, index: int) -> None:
        """Put it at place ``index`` of `jobs`: what comes first is started first."""
        job = self._queue.find(job_id)
        if job is not None:
            self._queue.move(job, index)
            self._running.changed()

    def cancel(self, job_id: int) -> None:
        """Stop it, forget it and delete what is here of it. A file that was to be mended stays as it was."""
        job = self._queue.find(job_id)
        if job is None or job.state is JobState.DONE:
            return
        self._queue.remove(job)
        self._running.work.hold_all(job)
        self._running.launcher.stop(job, lambda: self._running.work.remove(job))
        self._running.changed()

    def dismiss(self, job_id: int) -> None:
        """Take a download that is done or has failed off the list; what is on the disk stays."""
        job = self._queue.find(job_id)
        if job is not None and not job.state.active:
            self._queue.remove(job)
            self._running.changed()

    def shutdown(self) -> None:
        """End all children, keeping partial files and the queue, before this returns. Only for quitting."""
        if not self._closed:
            self._closed = True
            self.lister.shutdown()
            self._running.shutdown()
