"""The files of a repository as entries that can be downloaded. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from app.downloads.records import DownloadJob, JobState
from app.library.service import FileState, InstalledModel
from engine.hub.quality import Quality, quality_of
from engine.hub.records import CatalogueModel, RepoPage
from engine.library.listing import RepoFile, RepoListing


@dataclass(frozen=True)
class Entry:
    """One file (or split set) to download, with what goes with it.

    Attributes:
        usual: What most people should take.
        projector: Lets the model see or hear.
        draft: Guesses ahead for it.
        shared: Other entries have the same quant, so the name of the file tells them apart.
    """

    file: RepoFile
    quality: Quality = Quality.UNKNOWN
    usual: bool = False
    projector: RepoFile | None = None
    draft: RepoFile | None = None
    shared: bool = False

    @property
    def name(self) -> str:
        """Short, unique among the entries of a page."""
        path = self.file.path
        return self.file.quant if self.file.quant and not (self.shared or self.file.companion) else path


def entries_of(page: RepoPage) -> tuple[Entry, ...]:
    """Models by size, then the files that belong to models."""
    found: list[Entry] = []
    for group in page.groups:
        for number, one in enumerate(group.files):
            usual, shared = group.usual and not number, len(group.files) > 1
            found.append(Entry(one.file, group.quality, usual, one.projector, one.draft, shared))
    found += [Entry(file) for file in page.companions]
    return tuple(found)


def entries_of_catalogue(model: CatalogueModel) -> tuple[RepoListing, tuple[Entry, ...]]:
    """What the catalogue knows of a repository, without asking the Hub."""
    listing = model.listing
    return listing, tuple(Entry(file, quality_of(file.quant), usual=True) for file in listing.files)


class Where(Enum):
    """Where the file of an entry is."""

    NEW = auto()
    COMING = auto()
    STOPPED = auto()
    """Paused, interrupted or failed; it can be taken up again."""
    HERE = auto()


@dataclass(frozen=True)
class Status:
    """``percent`` of a download that runs, None while unknown; ``job`` and ``model`` where there are such."""

    where: Where = Where.NEW
    percent: int | None = None
    job: int | None = None
    model: InstalledModel | None = None


def status_of(repo: str, file: RepoFile, jobs: Iterable[DownloadJob], models: Iterable[InstalledModel]) -> Status:
    """Status of ``file`` of ``repo``."""
    for job in jobs:
        if (job.repo, job.file) == (repo, file.path) and job.state is not JobState.DONE and not job.repair:
            percent = job.done * 100 // job.total if job.total else None
            return Status(Where.COMING if job.state.active else Where.STOPPED, percent, job.id)
    for model in models:
        if model.state is FileState.OK and _is_of(model, repo, file):
            return Status(Where.HERE, model=model)
    return Status()


def _is_of(model: InstalledModel, repo: str, file: RepoFile) -> bool:
    if file.sha256 and file.sha256 in model.hashes:
        return True
    if model.repo is None or model.repo.casefold() != repo.casefold():
        return False
    if model.file:
        return model.file == file.path
    return model.path.name == file.path.rpartition("/")[2] and file.size in (None, model.size_bytes)


def size_of(entry: Entry, *, projector: bool, draft: bool) -> int | None:
    """Bytes to download, None when unknown."""
    wanted = [entry.file]
    wanted += [entry.projector] if projector and entry.projector is not None else []
    wanted += [entry.draft] if draft and entry.draft is not None else []
    sizes = [file.size for file in wanted]
    return None if None in sizes else sum(size for size in sizes if size is not None)
