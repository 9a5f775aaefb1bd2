"""The queue on the disk: what was asked for and not finished, in its order."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.downloads.messages import Failed
from engine.library.listing import FilePart
from engine.library.regular import read_regular

MAX_JOBS = 1000


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be fetched.

    Attributes:
        root: The models folder it goes to.
        repo, revision, files: As in `engine.downloads.messages.Fetch`.
        targets: Where the files lie; empty: in their places below ``root``.
        repair: They are here, and what is wrong of them is to be fetched again.
    """

    root: bytes
    repo: str
    revision: str = "main"
    files: tuple[FilePart, ...]
    targets: tuple[bytes, ...] = ()
    repair: bool = False

    @property
    def key(self) -> tuple[bytes, str, str]:
        """What two downloads must not have in common."""
        return (self.targets[0], "", "") if self.targets else (self.root, self.repo, self.files[0].path)


class Stand(StrEnum):
    """Where a download that is not finished stood."""

    QUEUED = "queued"
    """It goes on by itself."""
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class KeptJob(msgspec.Struct, frozen=True, kw_only=True):
    """A download that is not finished."""

    order: Order
    stand: Stand = Stand.QUEUED
    error: Failed | None = None
    total: int | None = None


class QueueFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    version: int = 1
    jobs: tuple[KeptJob, ...] = ()


def read(path: Path) -> tuple[KeptJob, ...]:
    """The queue at ``path``; empty when there is none that makes sense."""
    try:
        return msgspec.json.decode(read_regular(path), type=QueueFile).jobs[:MAX_JOBS]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()


def write(path: Path, jobs: Sequence[KeptJob]) -> None:
    """Keep the queue, whole or not at all. A disk that is full keeps the one before."""
    new = path.with_name(path.name + ".new")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(QueueFile(jobs=tuple(jobs))))
        new.replace(path)
