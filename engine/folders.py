"""The program's own folders: how much room they take, and one that can be shown."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path


def disk_use(place: Path, stopped: Callable[[], bool] = lambda: False) -> int | None:
    """Bytes of all files in and below ``place`` (a folder or a file); None when it cannot be read, or when ``stopped``
    says between two files that nobody wants to know any more.

    A file with several names counts once, a link counts as the link that it is: what it leads to takes its room
    elsewhere. What vanishes meanwhile, or may not be read, is left out. A place that is not there takes 0.
    """
    try:
        top = place.lstat()
    except FileNotFoundError:
        return 0
    except OSError:
        return None
    seen: set[tuple[int, int]] = set()
    total = 0
    for found in chain([top], _below(place) if stat.S_ISDIR(top.st_mode) else ()):
        if stopped():
            return None
        identity = (found.st_dev, found.st_ino)
        if not stat.S_ISDIR(found.st_mode) and identity not in seen:
            seen.add(identity)
            total += found.st_size
    return total


def _below(folder: Path) -> Iterator[os.stat_result]:
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield found
            if stat.S_ISDIR(found.st_mode):
                waiting.append(Path(entry.path))


def shown_folder(folder: Path) -> Path:
    """``folder``, made if it is not there; when that fails, the nearest one above it that is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return next((parent for parent in folder.parents if parent.is_dir()), Path("/"))
    return folder
