"""The settings file: reading whatever lies there, replacing it as a whole. Knows no features."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from engine.errors import VrambleError
from engine.library.regular import read_regular

VERSION: Final = 1
VERSION_KEY: Final = "version"


@dataclass(frozen=True)
class SettingsFile:
    """What was found.

    Attributes:
        document: Feature name to values; unknown keys included.
        writable: False: the file must stay as it is (newer, or it could not be read or moved aside).
        remark: What the user should be told.
    """

    document: Mapping[str, Any]
    writable: bool = True
    remark: VrambleError | None = None


def good_copy(path: Path) -> Path:
    """Where the file as it was before the last save is kept."""
    return path.with_name(f"{path.stem}.last-good{path.suffix}")


def read(path: Path, now: float | None = None) -> SettingsFile:
    """The settings at ``path``. Never fails.

    A broken file is moved aside as ``settings.broken-<date>.json`` and the copy from before the
    last save is taken; a file of a newer version is read and left alone.
    """
    try:
        document = _parse(read_regular(path))
    except (FileNotFoundError, NotADirectoryError):
        return SettingsFile({})
    except OSError as error:
        return SettingsFile({}, writable=False, remark=_unreadable(path, error))
    if document is None:
        return _replace_broken(path, time.time() if now is None else now)
    if _version(document) > VERSION:
        return SettingsFile(document, writable=False, remark=_newer(path))
    return SettingsFile(document)


def update(path: Path, change: Callable[[Mapping[str, Any]], dict[str, Any]], fallback: Mapping[str, Any]) -> None:
    """Replace the file by ``change`` of what it holds now (``fallback`` if that is nothing sensible).

    New file, fsync, rename: at every moment there is a whole file. Another window's changes to
    other settings survive.

    Raises:
        OSError: The disk is full or the folder cannot be written; the old file is untouched.
    """
    try:
        present = _parse(read_regular(path))
    except OSError:
        present = None
    document = {**change(fallback if present is None else present), VERSION_KEY: VERSION}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new-{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if present is not None:
            _keep_copy(path)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(path.parent)


def _keep_copy(path: Path) -> None:
    """A second name for the present file. Not every file system has them: then there is no copy."""
    with contextlib.suppress(OSError):
        good_copy(path).unlink(missing_ok=True)
        os.link(path, good_copy(path))


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _parse(data: bytes) -> dict[str, Any] | None:
    """The document, or None when ``data`` is none."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _version(document: Mapping[str, Any]) -> int:
    version = document.get(VERSION_KEY)
    return version if isinstance(version, int) else VERSION


def _replace_broken(path: Path, now: float) -> SettingsFile:
    kept = _free_name(path, f".broken-{time.strftime('%Y-%m-%d', time.localtime(now))}")
    try:
        path.rename(kept)
    except OSError as error:
        return SettingsFile({}, writable=False, remark=_unreadable(path, error))
    document = None
    with contextlib.suppress(OSError):
        document = _parse(read_regular(good_copy(path)))
    if document is None or _version(document) > VERSION:
        return SettingsFile({}, remark=_broken(kept, "Every setting has its default again."))
    return SettingsFile(document, remark=_broken(kept, "The copy from before the last change is used."))


def _free_name(path: Path, ending: str) -> Path:
    candidate = path.with_name(f"{path.stem}{ending}{path.suffix}")
    number = 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}{ending}-{number}{path.suffix}")
    return candidate


def _broken(kept: Path, consequence: str) -> VrambleError:
    return VrambleError(
        "settings-broken", f"The settings file was damaged. {consequence}", f"It was kept as {kept.name}.", str(kept)
    )


def _newer(path: Path) -> VrambleError:
    return VrambleError(
        "settings-newer",
        "The settings were saved by a newer version of Vramble.",
        "They are used as far as they are known; changes last until the window closes.",
        str(path),
    )


def _unreadable(path: Path, error: OSError) -> VrambleError:
    return VrambleError(
        "settings-unreadable",
        f"The settings file {path} cannot be read.",
        "Changes last until the window closes.",
        str(error),
    )
