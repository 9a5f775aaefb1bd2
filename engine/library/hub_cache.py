"""Models in a cache of the Hugging Face Hub's client, which several programs share.

``models--OWNER--REPO/blobs/<hash>`` holds the bytes, ``snapshots/<commit>/<path>`` are links to them,
``refs/<name>`` say which commit a branch is. A blob of a large file is called as its sha256. (Layout:
huggingface_hub, guide "Understand caching".) Lemonade keeps the same layout, with ``modelscope--models--`` too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from engine.library.names import shown
from engine.library.walk import FoundFile, Known, Walk, walk

FOLDER = re.compile(r"^(?P<prefix>(?:modelscope--)?models)--(?P<rest>.+)$")
SHA256 = re.compile(r"^[0-9a-f]{64}$")
MAX_REF = 128


def is_hub_cache(root: Path) -> bool:
    """Whether ``root`` holds repositories in this layout."""
    return any((folder / "snapshots").is_dir() for folder in _repositories(root))


def find(root: Path, stop: Callable[[], bool] = lambda: False) -> Walk:
    """The models of all repositories; bytes that several revisions share count once, for the newest."""
    files: list[FoundFile] = []
    problems: list[str] = []
    folders = [root]
    for repository in _repositories(root):
        if stop():
            break
        seen: set[tuple[int, int]] = set()
        for number, snapshot in enumerate(_snapshots(repository)):
            found = walk(snapshot, stop)
            problems += found.problems
            folders += found.folders
            for file in found.files:
                if file.identity not in seen:
                    seen.add(file.identity)
                    files.append(_described(file, repository, snapshot, old=number > 0))
        folders += [repository / "snapshots", repository / "blobs"]
    return Walk(tuple(files), tuple(problems), tuple(folders))


def repo_of_folder(name: str) -> str | None:
    """``owner/repo`` of a folder called ``models--owner--repo``; None for ModelScope's and other names."""
    match = FOLDER.match(name)
    if match is None or match["prefix"] != "models":
        return None
    parts = match["rest"].split("--")
    return shown("/".join(parts)) if len(parts) == 2 else None


def repository_of(path: Path) -> Path | None:
    """The folder of the repository that the cached file ``path`` belongs to."""
    for folder in path.parents:
        if folder.name == "snapshots" and FOLDER.match(folder.parent.name):
            return folder.parent
    return None


def blob_of(path: Path) -> Path | None:
    """The file in ``blobs`` that the link ``path`` means, None when it is no such link."""
    repository = repository_of(path)
    try:
        if repository is None or not path.is_symlink():
            return None
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return target if target.parent == (repository / "blobs").resolve() else None


def links_to(blob: Path, repository: Path) -> Iterator[Path]:
    """All links in snapshots of ``repository`` that mean ``blob``. Raises OSError."""
    for folder, _, names in os.walk(repository / "snapshots"):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink() and path.resolve() == blob:
                yield path


def files_in(repository: Path) -> set[Path]:
    """Everything in the snapshots and blobs of ``repository``."""
    return {
        Path(folder, name)
        for place in ("snapshots", "blobs")
        for folder, _, names in os.walk(repository / place)
        for name in names
    }


def refs_of(repository: Path) -> list[Path]:
    """The small files that say which revision a branch is."""
    return [Path(folder, name) for folder, _, names in os.walk(repository / "refs") for name in sorted(names)]


def _repositories(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            return sorted(Path(entry.path) for entry in entries if FOLDER.match(entry.name) and entry.is_dir())
    except OSError:
        return []


def _snapshots(repository: Path) -> list[Path]:
    """The snapshot of ``refs/main`` first, then the newest."""
    main = _ref(repository / "refs" / "main")
    found: list[tuple[bool, float, Path]] = []
    try:
        with os.scandir(repository / "snapshots") as entries:
            found += (
                (entry.name != main, -entry.stat().st_mtime, Path(entry.path))
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        pass  # a repository of which nothing was fetched
    return [path for _, _, path in sorted(found)]


def _ref(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_REF).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _described(file: FoundFile, repository: Path, snapshot: Path, *, old: bool) -> FoundFile:
    try:
        target = os.readlink(file.path) if file.linked else ""  # noqa: PTH115 - its last name is all we need
    except OSError:
        target = ""
    name = target.rpartition("/")[2]
    known = Known(
        sha256=name if SHA256.match(name) else "",
        repo=repo_of_folder(repository.name),
        commit=snapshot.name,
        file=shown(file.path.relative_to(snapshot)),
        note="This is an older revision in the cache." if old else "",
    )
    return msgspec.structs.replace(file, known=known, linked=False)
