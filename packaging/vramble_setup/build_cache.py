"""Things that take long to make, kept outside the checkout, each below its own key.

An entry is made in a folder beside its place and moved there in one step, under a lock. So an entry
is whole or absent, and two set-ups at once make it only once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vramble_setup.report import say


def cache_root(environment: Mapping[str, str] = os.environ) -> Path:
    """The cache's folder: VRAMBLE_BUILD_CACHE, or vramble/build in the user's cache folder."""
    if own := environment.get("VRAMBLE_BUILD_CACHE"):
        return Path(own).absolute()
    base = environment.get("XDG_CACHE_HOME") or ""
    folder = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return folder / "vramble" / "build"


def key_of(facts: Mapping[str, object]) -> str:
    """A short name for these facts. The same facts give the same name, in whatever order."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(lock: Path, what: str) -> Iterator[None]:
    """Holds the lock file. Waits, and says so, while another set-up holds it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting: another set-up is busy with {what}.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def entry(root: Path, name: str, what: str, make: Callable[[Path], None]) -> Path:
    """The folder `root/name`. If it is absent, `make` fills a new folder that then becomes it."""
    place = root / name
    if place.is_dir():
        return place
    with locked(root / f"{name}.lock", what):
        if place.is_dir():
            return place
        unfinished = root / f"{name}.unfinished"
        _remove(unfinished)
        unfinished.mkdir(parents=True)
        try:
            make(unfinished)
            unfinished.rename(place)
        finally:
            _remove(unfinished)
    return place


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
