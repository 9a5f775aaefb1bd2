"""Jobs whose files are looked up or deleted: they are held until that is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.downloads.job import Job
from app.downloads.keeping import Keeping
from app.downloads.queue import Queue
from app.downloads.records import JobState
from engine.downloads.messages import Failed
from engine.downloads.queue_file import Order
from engine.library.listing import FilePart
from engine.library.origin import Origin


class FileWork(QObject):
    """Looks up where files came from, and deletes partial ones.

    Attributes:
        changed: A job is free again.
        failed: Job and `Failed`: it cannot go on.
    """

    changed = Signal()
    failed = Signal(object, object)

    def __init__(self, queue: Queue, keeping: Keeping, parent: QObject) -> None:
        super().__init__(parent)
        self._queue = queue
        self._keeping = keeping

    def look_up(self, job: Job, origin: Origin | None = None) -> None:
        """Find out where the files of the repair ``job`` came from."""
        job.held, job.state = True, JobState.CHECKING

        def found(answer: Order | Failed) -> None:
            job.held = False
            if job not in self._queue:
                return
            if isinstance(answer, Failed):
                self.failed.emit(job, answer)
            else:
                job.take_order(answer)
                job.reset()
                self.changed.emit()

        self._keeping.look_up(job.order, origin, found)

    def look_up_again(self) -> None:
        """Repairs of an earlier run that did not come to that."""
        for job in self._queue:
            if job.order.repair and not job.order.repo and job.state.active and not job.held:
                self.look_up(job)

    def hold_back(self, job: Job) -> None:
        """``job`` must wait when files of the same download are just being deleted."""
        job.held = job.order.key in self._keeping.held

    def hold_all(self, job: Job) -> None:
        """Files of ``job`` will be deleted: no download of the same may begin."""
        self._keeping.held.add(job.order.key)

    def remove(self, job: Job) -> None:
        """Delete what is here of ``job``. Where that fails it is shown again, with the reason."""

        def removed(why: Failed | None) -> None:
            for other in self._queue:
                if other.order.key == job.order.key:
                    other.held = False
            if why is not None:
                self._queue.put(job)
                self.failed.emit(job, why)
            self.changed.emit()

        self._keeping.remove(job.order, job.targets, removed)


def repair_order(path: Path, parts: Sequence[Path]) -> Order:
    """The order to mend ``path``, or all ``parts`` of a split set. Where they came from is looked up later."""
    targets = tuple(os.fsencode(target) for target in tuple(parts) or (path,))
    name = os.fsencode(path.name).decode("utf-8", "replace")
    return Order(root=os.fsencode(path.parent), repo="", files=(FilePart(path=name),), targets=targets, repair=True)
