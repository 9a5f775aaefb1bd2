"""Deleting models to the trash where there is one, and bringing them back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.errors import VrambleError
from engine.library.deletion import clear_folders, freed_by, plan_deletion, refuse
from engine.library.names import shown
from engine.library.origin import origin_path
from engine.library.records import Deletion, InstalledModel

ToTrash = Callable[[Path], Path | None]
"""Moves one file to the trash and gives where it is there, None when that does not work."""


class Trashed(msgspec.Struct, frozen=True, kw_only=True):
    """What went to the trash, for bringing it back.

    Attributes:
        label: The model's.
        freed: Bytes that the disk gets back once the trash is emptied.
        places: Where each file was, and where it is in the trash.
        origins: Small files that were deleted, and what was in them.
    """

    label: str
    freed: int
    places: tuple[tuple[Path, Path], ...]
    origins: tuple[tuple[Path, bytes], ...] = ()


def trash(model: InstalledModel, root: Path, to_trash: ToTrash) -> Trashed:
    """Move all files of ``model`` to the trash; what cannot go there makes everything come back.

    Raises:
        VrambleError: ``not-deletable``, ``no-trash``.
    """
    deletion = plan_deletion(model, root)
    refuse(deletion)
    freed = freed_by(deletion.paths)
    places: list[tuple[Path, Path]] = []
    origins = _read_origins(deletion)
    for path in deletion.paths:
        if any(path == origin for origin, _ in origins):
            continue
        there = to_trash(path)
        if there is None:
            put_back(Trashed(label=model.label, freed=0, places=tuple(places)))
            raise VrambleError(
                "no-trash",
                f"{model.label} cannot be moved to the trash: there is none on its drive.",
                "It can be deleted for good.",
                shown(path),
            )
        places.append((path, there))
    for path, _ in origins:
        path.unlink(missing_ok=True)
    clear_folders(deletion, root)
    return Trashed(label=model.label, freed=freed, places=tuple(places), origins=origins)


def put_back(trashed: Trashed) -> None:
    """Bring everything back from the trash.

    Raises:
        VrambleError: ``not-in-trash`` when it was emptied, or the place is taken by now.
    """
    for place, there in reversed(trashed.places):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(place):
                raise FileExistsError(17, "another file is there by now")
            there.rename(place)
            (there.parent.parent / "info" / f"{there.name}.trashinfo").unlink(missing_ok=True)
        except OSError as error:
            raise VrambleError(
                "not-in-trash",
                f"{trashed.label} could not be brought back: {error.strerror or error}.",
                "Look for it in the trash.",
                shown(there),
            ) from error
    for path, data in trashed.origins:
        path.write_bytes(data)


def _read_origins(deletion: Deletion) -> tuple[tuple[Path, bytes], ...]:
    found = []
    for part in deletion.model.parts:
        path = origin_path(part)
        if path in deletion.paths:
            try:
                found.append((path, path.read_bytes()))
            except OSError:
                continue
    return tuple(found)
