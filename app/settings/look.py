"""What the settings window shows of the disk: looked at off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject

from app.jobs import Err, Executor, Result, SerialRunner
from app.paths import Paths
from engine.build_facts import build_facts, build_line
from engine.folders import disk_use, shown_folder

if TYPE_CHECKING:
    from engine.licences import Licence as Licence

T = TypeVar("T")


class Part(StrEnum):
    """What of the program takes room."""

    MODELS = "models"
    CONVERSATIONS = "conversations"
    BACKENDS = "backends"
    CACHE = "cache"
    LOGS = "logs"


@dataclass(frozen=True)
class Place:
    """Where one part lies, and the files that count for it."""

    part: Part
    folder: Path
    counted: tuple[Path, ...]


def places(paths: Paths) -> tuple[Place, ...]:
    """Where everything lies."""
    database = paths.database
    files = tuple(database.with_name(database.name + ending) for ending in ("", "-wal", "-shm"))
    return (
        Place(Part.MODELS, paths.models, (paths.models,)),
        Place(Part.CONVERSATIONS, paths.data, files),
        Place(Part.BACKENDS, paths.backends, (paths.backends,)),
        Place(Part.CACHE, paths.cache, (paths.cache,)),
        Place(Part.LOGS, paths.logs, (paths.logs,)),
    )


class DiskLook(QObject):
    """Answers questions about the disk later, on a thread of its own: a sleeping network drive keeps nobody else."""

    def __init__(self, executor: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = SerialRunner(executor, self)
        self._closed = False

    def measure(self, place: Place, done: Callable[[int | None], None]) -> None:
        """How many bytes ``place`` takes; None when that cannot be known."""

        def work() -> int | None:
            sizes = [disk_use(path, lambda: self._closed) for path in place.counted]
            return None if None in sizes else sum(size for size in sizes if size is not None)

        self._ask(work, done)

    def licences(self, done: Callable[[tuple[Licence, ...]], None]) -> None:
        """What the program is made of."""

        def work() -> tuple[Licence, ...]:
            from engine.licences import licences

            return licences()

        self._ask(work, done)

    def build(self, done: Callable[[str], None]) -> None:
        """Which llama.cpp was built, and how, in one line; "" when that is not known."""
        self._ask(lambda: build_line(build_facts()), done)

    def find_folder(self, folder: Path, done: Callable[[Path], None]) -> None:
        """``folder``, made if it was not there, so that it can be shown; its nearest parent when that fails."""
        self._ask(lambda: shown_folder(folder), done)

    def shutdown(self) -> None:
        """Stop measuring, wait for what is being read, and deliver nothing any more."""
        self._closed = True
        self._runner.close()

    def _ask(self, work: Callable[[], T], done: Callable[[T], None]) -> None:
        def deliver(result: Result[T]) -> None:
            if isinstance(result, Err):
                raise result.error
            done(result.value)

        self._runner.run(work, deliver)
