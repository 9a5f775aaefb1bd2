"""Putting models into the models folder and taking them out."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from engine.errors import VrambleError
from engine.library.deletion import carry_out, plan_deletion
from engine.library.names import STARTER_OWNER, shown
from engine.library.records import InstalledModel
from engine.library.sizes import size_text

STARTER_REPO = "SmolLM2-135M-Instruct"
RESERVE_BYTES = 64 * 1024 * 1024


def delete(models_folder: Path, model: InstalledModel) -> int:
    """Remove all files of ``model``, then folders left empty; gives the bytes that this freed.

    A symbolic link goes, its target stays.

    Raises:
        VrambleError: ``not-deletable`` when a file lies elsewhere (also behind a linked folder) or the folder
            cannot be written to, ``delete-failed`` when the system refuses.
    """
    return carry_out(plan_deletion(model, models_folder), models_folder)


def add_starter(source: Path | None, models_folder: Path) -> Path:
    """Put the starter model into the models folder and give its path there; does nothing when it is there.

    Raises:
        VrambleError: ``no-starter`` when the installation has none, or as `add_file`.
    """
    if source is None or not source.is_file():
        raise VrambleError(
            "no-starter",
            "This installation came without the starter model.",
            "Run “./dev run” again, or get a model from the Hub.",
        )
    return add_file(source, models_folder / STARTER_OWNER / STARTER_REPO / source.name)


def add_file(source: Path, target: Path) -> Path:
    """Make ``target`` the same file as ``source``: by a hard link where that works, else by a copy.

    Raises:
        VrambleError: ``already-there``, ``no-space``, ``copy-failed``.
    """
    try:
        size = source.stat().st_size
        if target.exists():
            if target.stat().st_size == size:
                return target
            raise VrambleError("already-there", f"Another file is already at {shown(target)}.", "Rename or delete it.")
        target.parent.mkdir(parents=True, exist_ok=True)
        _link_or_copy(source, target, size)
    except OSError as error:
        raise VrambleError(
            "copy-failed",
            f"{shown(source.name)} could not be put into the models folder: {error.strerror or error}.",
            "Check that the folder can be written to and has room.",
            shown(target),
        ) from error
    return target


def _link_or_copy(source: Path, target: Path, size: int) -> None:
    # resolve(): a hard link to a symbolic link would be one more symbolic link.
    with contextlib.suppress(OSError):
        os.link(source.resolve(), target)
        return
    free = shutil.disk_usage(target.parent).free
    if free < size + RESERVE_BYTES:
        raise VrambleError(
            "no-space",
            f"{size_text(size)} are needed and {size_text(free)} are free.",
            "Free some space, then try again.",
        )
    part = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(source, part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
