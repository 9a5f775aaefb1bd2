"""Which files of a folder may be models."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container
from pathlib import Path

import msgspec

from engine.library.names import is_model_name, piece_of, shown
from engine.library.origin import origin_name

MAX_DEPTH = 32
MAX_FOLDERS = 20_000
LEFT_OVER = ".vramble-moving"
"""Ending of a copy that is being made."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder says of a file beside the file itself.

    Attributes:
        title: Name that replaces the file's, such as ``llama3:8b``; empty: none.
        also: Further names.
        stem: Name to read quantisation and name from where the file's own says nothing.
        sha256: That its bytes should have; empty when unknown.
        repo, commit, file: Where it comes from.
        licence: In a word or a line.
        note: A sentence about it.
        of: Models that a companion belongs to, where its owner says so.
    """

    title: str = ""
    also: tuple[str, ...] = ()
    stem: str = ""
    sha256: str = ""
    repo: str | None = None
    commit: str | None = None
    file: str = ""
    licence: str = ""
    note: str = ""
    of: tuple[Path, ...] = ()


NOTHING = Known()


class FoundFile(msgspec.Struct, frozen=True):
    """A regular file, or a link to one. ``key`` changes when the content may have changed.

    ``described`` says that an origin lies beside it.
    """

    path: Path
    size: int
    allocated: int
    links: int
    linked: bool
    key: tuple[int, int, int, int]
    described: bool = False
    known: Known = NOTHING

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode: the same for all names of one file."""
        return self.key[:2]


class Walk(msgspec.Struct, frozen=True):
    """Model files and raw pieces below a folder, and what could not be read.

    Attributes:
        folders: All folders that were entered.
        left_over: Copies that were not finished.
    """

    files: tuple[FoundFile, ...]
    problems: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    left_over: tuple[Path, ...] = ()


def walk(
    root: Path, stop: Callable[[], bool] = lambda: False, others: Container[tuple[int, int]] = frozenset()
) -> Walk:
    """All candidates below ``root``, links followed, each real folder entered once, until ``stop``.

    Folders whose device and inode are in ``others`` are left to somebody else.
    """
    round_ = _Round(others)
    waiting = [(str(root), 0)]
    while waiting and not stop() and len(round_.folders) < MAX_FOLDERS:
        folder, depth = waiting.pop()
        inside = round_.enter(folder, first=depth == 0)
        if depth < MAX_DEPTH:
            waiting += ((path, depth + 1) for path in inside)
    if waiting and not stop():
        round_.problems.append(f"{shown(root)} holds more than {MAX_FOLDERS:,} folders: the rest was not looked at.")
    return Walk(tuple(round_.files), tuple(round_.problems), tuple(round_.folders), tuple(round_.left_over))


class _Round:
    """What one walk has found so far."""

    def __init__(self, others: Container[tuple[int, int]]) -> None:
        self.files: list[FoundFile] = []
        self.problems: list[str] = []
        self.folders: list[Path] = []
        self.left_over: list[Path] = []
        self._others = others
        self._seen: set[tuple[int, int]] = set()

    def enter(self, folder: str, *, first: bool) -> list[str]:
        """Take the files of ``folder``; gives the folders in it."""
        try:
            info = os.stat(folder)  # noqa: PTH116 - a Path for each of thousands of folders costs more than the call
            identity = (info.st_dev, info.st_ino)
            if identity in self._seen or (not first and identity in self._others):
                return []
            self._seen.add(identity)
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{shown(folder)} cannot be read: {error.strerror or error}.")
            return []
        self.folders.append(Path(folder))
        names = {entry.name for entry in found}
        inside = []
        for entry in found:
            if entry.name.startswith("."):
                if entry.name.endswith(LEFT_OVER):
                    self.left_over.append(Path(entry.path))
            elif _is_folder(entry):
                inside.append(entry.path)
            elif (is_model_name(entry.name) or piece_of(entry.name)) and (
                file := look_at(entry, described=origin_name(entry.name) in names)
            ):
                self.files.append(file)
        return inside


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def look_at(entry: os.DirEntry[str], *, described: bool = False) -> FoundFile | None:
    """The regular file that ``entry`` is or points to, else None."""
    try:
        info, linked = entry.stat(), entry.is_symlink()
    except OSError:
        return None
    return found_file(Path(entry.path), info, linked=linked, described=described)


def found_file(path: Path, info: os.stat_result, *, linked: bool = False, described: bool = False) -> FoundFile | None:
    """A record of ``path`` with what ``stat`` said, None when it is no regular file."""
    if not stat.S_ISREG(info.st_mode):
        return None
    key = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
    return FoundFile(path, info.st_size, info.st_blocks * 512, info.st_nlink, linked, key, described)
