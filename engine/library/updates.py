"""Whether the repository of a model has other bytes by now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from engine.library.listing import FilePart, RepoListing
from engine.library.names import shown
from engine.library.records import InstalledModel, ModelUpdate
from engine.library.states import FileState


def can_be_asked(model: InstalledModel) -> bool:
    """Its repository is known, and it is here."""
    return model.repo is not None and model.state is not FileState.ABSENT


def find_updates(models: Iterable[InstalledModel], listing: RepoListing, now: float) -> tuple[ModelUpdate, ...]:
    """The ``models`` of one repository whose file there is another one: by sha256, else by size.

    A new commit alone is no update: most change only the card. ``now`` is in seconds since 1970.
    """
    parts = {part.path: part for file in listing.files for part in file.parts}
    found = []
    for model in models:
        pairs = [(path, _there(model, path, parts)) for path in model.parts]
        theirs = [part for _, part in pairs if part is not None]
        if len(theirs) == len(pairs) and any(part and _differs(model, path, part) for path, part in pairs):
            sizes = [part.size for part in theirs]
            found.append(
                ModelUpdate(
                    path=model.path,
                    repo=listing.repo,
                    file=theirs[0].path,
                    commit=listing.commit,
                    n_bytes=sum(size or 0 for size in sizes) if all(sizes) else None,
                    checked=now,
                )
            )
    return tuple(found)


def _there(model: InstalledModel, path: Path, parts: dict[str, FilePart]) -> FilePart | None:
    """The file of the repository that ``path`` is: by its path there, else the only one of its name."""
    name = shown(path.name)
    if model.file:
        return parts.get(str(PurePosixPath(model.file).with_name(PurePosixPath(name).name))) or parts.get(model.file)
    same = [part for part in parts.values() if PurePosixPath(part.path).name == name]
    return same[0] if len(same) == 1 else None


def _differs(model: InstalledModel, path: Path, part: FilePart) -> bool:
    mine = model.hashes[model.parts.index(path)] if len(model.hashes) == len(model.parts) else ""
    if mine and part.sha256:
        return mine != part.sha256
    return len(model.parts) == 1 and part.size is not None and part.size != model.size_bytes
