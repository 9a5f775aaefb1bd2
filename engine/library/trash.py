"""Deleting models to the trash where there is one, and bringing them back."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

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
        VrambleError: ``not-deletable``; ``no-trash``: all is as it was; ``half-in-trash``: says what is where.
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
            _give_up(deletion.model, path, places)
        else:
            places.append((path, there))
    for path, _ in origins:
        with contextlib.suppress(OSError):  # a few bytes that say nothing of a file that is not there
            path.unlink(missing_ok=True)
    clear_folders(deletion, root)
    return Trashed(label=model.label, freed=freed, places=tuple(places), origins=origins)


def _give_up(model: InstalledModel, path: Path, places: Sequence[tuple[Path, Path]]) -> NoReturn:
    """``path`` cannot go to the trash, so what is there already comes back."""
    reason = f"{model.label} cannot be moved to the trash: there is none on its drive."
    try:
        put_back(Trashed(label=model.label, freed=0, places=tuple(places)))
    except VrambleError as error:
        text = f"{shown(path.name)} cannot be moved to the trash and stays. {error.message}"
        raise VrambleError("half-in-trash", text, error.next_step, error.detail) from error
    raise VrambleError("no-trash", reason, "It can be deleted for good.", shown(path))


def put_back(trashed: Trashed) -> None:
    """Bring everything back from the trash, as far as that can be done.

    Raises:
        VrambleError: ``not-in-trash`` when it was emptied, or a place is taken by now; says what is back and what not.
    """
    missing: list[tuple[Path, Path, OSError]] = []
    for place, there in reversed(trashed.places):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(place):
                raise FileExistsError(errno.EEXIST, "another file is there by now")
            there.rename(place)
        except OSError as error:
            missing.append((place, there, error))
            continue
        with contextlib.suppress(OSError):
            (there.parent.parent / "info" / f"{there.name}.trashinfo").unlink(missing_ok=True)
    for path, data in trashed.origins:
        with contextlib.suppress(OSError):
            path.write_bytes(data)
    if missing:
        raise _not_back(trashed, missing)


def _not_back(trashed: Trashed, missing: Sequence[tuple[Path, Path, OSError]]) -> VrambleError:
    error = missing[-1][2]
    reason = error.strerror or str(error)
    if len(missing) == len(trashed.places):
        text = f"{trashed.label} could not be brought back: {reason}."
    else:
        names = ", ".join(shown(place.name) for place, _, _ in reversed(missing))
        done = len(trashed.places) - len(missing)
        text = f"{done} of {len(trashed.places)} files of {trashed.label} are back; not {names}: {reason}."
    where = "\n".join(shown(there) for _, there, _ in reversed(missing))
    return VrambleError("not-in-trash", text, "Look for it in the trash.", where)


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
