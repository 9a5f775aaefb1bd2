"""Which files of a folder may be models."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.library.names import is_model_name, piece_of, shown

MAX_DEPTH = 32


class FoundFile(msgspec.Struct, frozen=True):
    """A regular file, or a link to one. ``key`` changes when the content may have changed."""

    path: Path
    size: int
    allocated: int
    links: int
    linked: bool
    key: tuple[int, int, int, int]


class Walk(msgspec.Struct, frozen=True):
    """Model files and raw pieces below a folder, and what could not be read."""

    files: tuple[FoundFile, ...]
    problems: tuple[str, ...]


def walk(root: Path, stop: Callable[[], bool] = lambda: False) -> Walk:
    """All candidates below ``root``, links followed, each real folder entered once, until ``stop``."""
    files: list[FoundFile] = []
    problems: list[str] = []
    seen: set[tuple[int, int]] = set()
    waiting = [(root, 0)]
    while waiting and not stop():
        folder, depth = waiting.pop()
        try:
            info = folder.stat()
            if (info.st_dev, info.st_ino) in seen:
                continue
            seen.add((info.st_dev, info.st_ino))
            with os.scandir(folder) as entries:
                names = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(f"{shown(folder)} cannot be read: {error.strerror or error}.")
            continue
        for entry in names:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                if depth < MAX_DEPTH:
                    waiting.append((folder / entry.name, depth + 1))
            elif (is_model_name(entry.name) or piece_of(entry.name)) and (found := _look_at(entry)):
                files.append(found)
    return Walk(tuple(files), tuple(problems))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _look_at(entry: os.DirEntry[str]) -> FoundFile | None:
    try:
        info, linked = entry.stat(), entry.is_symlink()
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    key = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
    return FoundFile(Path(entry.path), info.st_size, info.st_blocks * 512, info.st_nlink, linked, key)
