"""Downloads that an earlier run left unfinished."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.downloads.fetch import target_path
from engine.downloads.meter import size_on_disk
from engine.downloads.partial import (
    RECORD,
    PartRecord,
    bytes_here,
    map_path,
    part_path,
    read_record,
    record_path,
    remove_partial,
)
from engine.errors import VrambleError
from engine.library.listing import FilePart

MAX_DEPTH = 18


class Interrupted(msgspec.Struct, frozen=True, kw_only=True):
    """One download, of a split set with all its parts; sizes in bytes."""

    repo: str
    revision: str
    files: tuple[FilePart, ...]
    done: int
    total: int | None


def find_interrupted(models: Path) -> tuple[Interrupted, ...]:
    """All downloads below ``models`` that can be taken up again."""
    found: dict[tuple[str, str, tuple[FilePart, ...]], Interrupted] = {}
    for record in _records(models):
        files = record.files or (FilePart(path=record.path, size=record.size, sha256=record.sha256),)
        key = (record.repo, record.revision, files)
        if key not in found and (download := _interrupted(models, record, files)):
            found[key] = download
    return tuple(sorted(found.values(), key=lambda download: (download.repo, download.files[0].path)))


def _records(models: Path) -> list[PartRecord]:
    found = []
    for folder, folders, names in os.walk(models):
        if len(Path(folder).relative_to(models).parts) >= MAX_DEPTH:
            folders.clear()
        for name in names:
            if name.endswith(RECORD) and not name.startswith("."):
                path = Path(folder) / name
                record = read_record(path)
                if record is not None and _belongs_here(models, record, path):
                    found.append(record)
    return found


def _belongs_here(models: Path, record: PartRecord, path: Path) -> bool:
    try:
        return record_path(target_path(models, record.repo, record.path)) == path
    except VrambleError:
        return False


def _interrupted(models: Path, record: PartRecord, files: tuple[FilePart, ...]) -> Interrupted | None:
    sizes, done = [], 0
    for file in files:
        try:
            target = target_path(models, record.repo, file.path)
        except VrambleError:
            return None
        own = read_record(record_path(target))
        size = own.size if own and own.size is not None else file.size
        done += bytes_here(target, size)
        sizes.append(size)
    known = [size for size in sizes if size is not None]
    total = sum(known) if len(known) == len(sizes) else None
    return Interrupted(repo=record.repo, revision=record.revision, files=files, done=done, total=total)


def discard(models: Path, targets: Sequence[Path]) -> int:
    """Delete what is here of a download, then folders left empty; gives the bytes freed. Raises OSError."""
    freed = 0
    for target in targets:
        if target.parent.is_dir():
            freed += remove_partial(target)
            _remove_empty(target.parent, models)
    return freed


def put_back(targets: Sequence[Path]) -> None:
    """Give files whose repair is given up their names back; they are as damaged as before. Raises OSError."""
    for target in targets:
        if part_path(target).exists() and not target.exists():
            part_path(target).rename(target)
        for path in (record_path(target), map_path(target)):
            path.unlink(missing_ok=True)


def bytes_of(targets: Sequence[Path], sizes: Sequence[int | None]) -> int:
    """How many bytes of a download are here, finished files among them."""
    return sum(size_on_disk(target) or bytes_here(target, size) for target, size in zip(targets, sizes, strict=True))


def _remove_empty(folder: Path, stop: Path) -> None:
    while folder != stop and folder.is_relative_to(stop):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
