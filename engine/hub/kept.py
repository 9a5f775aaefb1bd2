"""What the Hub said earlier, on the disk: for those who look again, and for those without a network."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from engine.hub.records import RepoPage, RepoSummary, SearchPage, SearchQuery

Page = TypeVar("Page", SearchPage, RepoPage)

MOST_BYTES: Final = 48 * 1024 * 1024
MOST_FILES: Final = 3000
LARGEST: Final = 4 * 1024 * 1024
PRUNE_EVERY: Final = 50
"""Writes between two looks at how much there is."""


class Kept:
    """Pages below one folder, a file for each. The oldest go first; a disk that does not take them is no error.

    Args:
        endpoint: Another Hub's answers are other answers.
    """

    def __init__(self, folder: Path, endpoint: str) -> None:
        self._folder, self._endpoint = folder, endpoint
        self._writes = 0

    def search_key(self, query: SearchQuery, cursor: str) -> str:
        """Name of one page of one search."""
        return self._key("search", msgspec.json.encode(query).decode(), cursor)

    def repo_key(self, repo: str, revision: str) -> str:
        """Name of the page of a repository."""
        return self._key("repo", repo.lower(), revision)

    def read(self, key: str, kind: type[Page]) -> Page | None:
        """What was kept, None when nothing was or it cannot be read."""
        return self._decoded(self._folder / key, kind)

    def write(self, key: str, page: SearchPage | RepoPage) -> None:
        """Keep ``page``, in place of what was there."""
        data = msgspec.json.encode(page)
        path = self._folder / key
        if len(data) > LARGEST:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = path.with_name(f"{key}.{os.getpid()}.new")
            fresh.write_bytes(data)
            fresh.replace(path)
        if self._writes % PRUNE_EVERY == 0:
            self._prune()
        self._writes += 1

    def summaries(self) -> Iterator[RepoSummary]:
        """Every repository that is known, each as it was told last."""
        found: dict[str, tuple[float, RepoSummary]] = {}
        for path in self._files():
            rows: tuple[RepoSummary, ...] = ()
            told = 0.0
            if path.name.startswith("search-") and (page := self._decoded(path, SearchPage)) is not None:
                rows, told = page.rows, page.read_at
            elif path.name.startswith("repo-") and (one := self._decoded(path, RepoPage)) is not None:
                rows, told = (one.summary,), one.read_at
            for row in rows:
                if row.repo not in found or found[row.repo][0] < told:
                    found[row.repo] = (told, row)
        return (row for _, row in found.values())

    def _key(self, kind: str, *what: str) -> str:
        text = "\0".join((self._endpoint, *what))
        return f"{kind}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.json"

    def _decoded(self, path: Path, kind: type[Page]) -> Page | None:
        try:
            if path.stat().st_size > LARGEST:
                return None
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _files(self) -> list[Path]:
        try:
            return [path for path in self._folder.iterdir() if path.suffix == ".json"]
        except OSError:
            return []

    def _prune(self) -> None:
        """Take the oldest away until the rest is within the limits, and what a killed child left half written."""
        with contextlib.suppress(OSError):
            for path in self._folder.glob("*.new"):
                if path.stat().st_mtime < time.time() - 3600:
                    path.unlink()
        found = []
        for path in self._files():
            with contextlib.suppress(OSError):
                about = path.stat()
                found.append((about.st_mtime, about.st_size, path))
        found.sort(reverse=True)
        total = 0
        for place, (_, size, path) in enumerate(found):
            total += size
            if total > MOST_BYTES or place >= MOST_FILES:
                with contextlib.suppress(OSError):
                    path.unlink()
