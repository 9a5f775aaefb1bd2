"""What of the queue lies on the disk: its file, the partial files, origins. All of it off the GUI thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Result, SerialRunner
from engine.downloads import queue_file
from engine.downloads.fetch import target_path
from engine.downloads.messages import Failed
from engine.downloads.queue_file import KeptJob, Order, Stand
from engine.downloads.restore import bytes_of, discard, find_interrupted, put_back
from engine.errors import VrambleError
from engine.library.listing import FilePart
from engine.library.names import shown
from engine.library.origin import Origin, read_origin
from engine.loading.getting_back import way_without_origin

Key = tuple[bytes, str, str]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A download of an earlier run. ``done``: bytes here."""

    job: KeptJob
    done: int = 0


class Keeping(QObject):
    """Reads and writes for the queue.

    Args:
        models: The own models folder, in which interrupted downloads are looked for.
        path: The queue's file; None: it is not kept.

    Attributes:
        found: A tuple of `Found`: what earlier runs left.
        held: Of these downloads files are being deleted.
    """

    found = Signal(object)

    def __init__(self, models: Path, path: Path | None, runner: SerialRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._models = models
        self._path = path
        self._runner = runner
        self._saved: tuple[KeptJob, ...] | None = None
        self.held: set[Key] = set()

    def load(self) -> None:
        """Look for what earlier runs left."""

        def taken(result: Result[tuple[Found, ...]]) -> None:
            if isinstance(result, Err):
                raise result.error
            self.found.emit(result.value)

        models, path = self._models, self._path
        self._runner.run(lambda: _look(models, path), taken)

    def save(self, jobs: Sequence[KeptJob]) -> None:
        """Keep ``jobs``, unless they are kept already."""
        path, wanted = self._path, tuple(jobs)
        if path is not None and wanted != self._saved:
            self._saved = wanted
            self._runner.run(lambda: queue_file.write(path, wanted))

    def remove(self, order: Order, targets: Sequence[Path], done: Callable[[Failed | None], None]) -> None:
        """Delete what is here of a download; a file that was to be mended gets its name back. ``done``: what failed."""
        models = Path(os.fsdecode(order.root))

        def work() -> None:
            if order.repair:
                put_back(targets)
            else:
                discard(models, targets)

        def removed(result: Result[None]) -> None:
            self.held.discard(order.key)
            if isinstance(result, Err) and not isinstance(result.error, OSError):
                raise result.error
            done(_not_deleted(targets[0], result.error) if isinstance(result, Err) else None)

        self._runner.run(work, removed)

    def look_up(self, order: Order, origin: Origin | None, done: Callable[[Order | Failed], None]) -> None:
        """Find out where the files of a repair came from."""

        def taken(result: Result[Order | Failed]) -> None:
            if isinstance(result, Err):
                raise result.error
            done(result.value)

        self._runner.run(lambda: _with_origin(order, origin), taken)

    def close(self) -> None:
        """Finish what is being written."""
        self._runner.close()


def _look(models: Path, path: Path | None) -> tuple[Found, ...]:
    kept = queue_file.read(path) if path is not None else ()
    found = [Found(job=job, done=_done(job.order)) for job in kept]
    known = {target for job in kept for target in _targets(job.order)}
    try:
        interrupted = find_interrupted(models)
    except OSError:
        interrupted = ()
    for one in interrupted:
        order = Order(root=os.fsencode(models), repo=one.repo, revision=one.revision, files=one.files)
        if known.isdisjoint(_targets(order)):
            job = KeptJob(order=order, stand=Stand.INTERRUPTED, total=one.total)
            found.append(Found(job=job, done=one.done))
    return tuple(found)


def _targets(order: Order) -> list[Path]:
    """Where the files lie; none when a name is not safe."""
    if order.targets:
        return [Path(os.fsdecode(target)) for target in order.targets]
    try:
        return [target_path(Path(os.fsdecode(order.root)), order.repo, file.path) for file in order.files]
    except VrambleError:
        return []


def _done(order: Order) -> int:
    targets = _targets(order)
    return bytes_of(targets, [file.size for file in order.files]) if targets else 0


def _with_origin(order: Order, given: Origin | None) -> Order | Failed:
    paths = [Path(os.fsdecode(target)) for target in order.targets]
    origins = [read_origin(path) or given for path in paths]
    first = origins[0]
    known = [origin for origin in origins if origin is not None and origin.repo and origin.path]
    if first is None or len(known) < len(paths):
        return Failed(
            code="no-origin",
            message=f"Nobody knows where {shown(paths[0].name)} came from, so it cannot be mended.",
            next_step=way_without_origin(paths[0]),
        )
    files = tuple(FilePart(path=origin.path, size=origin.size, sha256=origin.sha256) for origin in known)
    return msgspec.structs.replace(order, repo=first.repo, revision=first.commit or "main", files=files)


def _not_deleted(target: Path, error: Exception) -> Failed:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Failed(
        code="delete-failed",
        message=f"What was downloaded of {shown(target.name)} could not be deleted: {reason}.",
        next_step="Check who owns the folder and whether it can be written to.",
    )
