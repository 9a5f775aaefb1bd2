"""Long work on model files, as rows that a window shows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from engine.errors import VrambleError


class TaskKind(StrEnum):
    """What is being done."""

    VERIFY = "verify"
    MOVE = "move"
    IMPORT = "import"
    COMPARE = "compare"
    """Hash files that may be duplicates."""
    JOIN = "join"
    SHARE = "share"


class TaskState(StrEnum):
    """How far it is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def active(self) -> bool:
        """It waits or runs."""
        return self in (TaskState.QUEUED, TaskState.RUNNING)


class LibraryTask(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work. Bytes count what is read, for a move also what is read back.

    Attributes:
        id: For `LibraryService.cancel` and `dismiss`.
        label: Of the model or file; empty for several.
        count: Models that this is about.
        paths: Of a move or import that is done: where the files are now.
        wrong: Of a check that is done: models whose bytes are not right.
        rate: Bytes a second, None before it is known.
        seconds_left: None when unknown.
        error: Why it failed.
    """

    id: int
    kind: TaskKind
    label: str
    count: int = 1
    state: TaskState = TaskState.QUEUED
    done_bytes: int = 0
    total_bytes: int = 0
    rate: float | None = None
    seconds_left: float | None = None
    paths: tuple[Path, ...] = ()
    wrong: tuple[Path, ...] = ()
    error: VrambleError | None = None
