"""Where a file of a repository is: here, on its way, or neither."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from pathlib import Path

from app.downloads.service import DownloadJob, JobState
from app.library.service import FileState, InstalledModel


class Status(Enum):
    """Where a file is."""

    NEW = auto()
    DOWNLOADING = auto()
    INTERRUPTED = auto()
    INSTALLED = auto()


def status_of(
    repo: str, path: str, jobs: Iterable[DownloadJob], models: Iterable[InstalledModel], folder: Path
) -> Status:
    """Status of the file ``path`` of ``repo``; ``folder`` is the models folder."""
    for job in jobs:
        if (job.repo, job.file) == (repo, path) and job.state is not JobState.DONE:
            return Status.DOWNLOADING if job.state.active else Status.INTERRUPTED
    target = folder / repo / path
    here = any(model.path == target and model.state is FileState.OK for model in models)
    return Status.INSTALLED if here else Status.NEW
