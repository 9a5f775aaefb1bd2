"""Where each root of the library is now."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import VrambleError
from engine.library.mounts import Mounts
from engine.library.names import shown
from engine.library.places import find_places
from engine.library.roots import LibraryRoot, RootInfo, RootKind, RootState
from engine.library.surroundings import Surroundings
from engine.memory.tree import Tree


class Whereabouts:
    """Finds roots: the own folder, those of other programs, those on cards."""

    def __init__(self, own: Path, around: Surroundings | None) -> None:
        """``around`` None: there are no other programs and no cards."""
        self._own = own
        self._around = around
        self._tree = Tree(around.system) if around is not None else None

    def mounts(self) -> Mounts | None:
        """Those of this moment."""
        return Mounts(self._tree) if self._tree is not None else None

    def roots(self, added: Sequence[LibraryRoot], *, others: bool = True) -> tuple[RootInfo, ...]:
        """The own folder, then what was added, then what was found; each folder once. Figures come later."""
        mounts = self.mounts()
        own = LibraryRoot(kind=RootKind.OWN, path=str(self._own))
        infos = [self._info(own, mounts), *(self._info(root, mounts) for root in added)]
        if others and self._around is not None:
            places = find_places(self._around)
            infos += (self._info(root, mounts, found=True) for root in places)
        seen: set[tuple[int, int] | Path] = set()
        result = []
        for info in infos:
            key = _identity(info.path)
            if key not in seen:
                seen.add(key)
                result.append(info)
        return tuple(result)

    def root_for(self, folder: Path) -> LibraryRoot:
        """A root for ``folder``, which the user chose.

        Raises:
            VrambleError: ``no-such-folder``, ``unreadable-folder``.
        """
        try:
            path = folder.expanduser().resolve(strict=True)
            with os.scandir(path):
                pass
        except (FileNotFoundError, NotADirectoryError, RuntimeError):
            raise VrambleError(
                "no-such-folder", f"There is no folder {shown(folder)}.", "Choose another one."
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise VrambleError(
                "unreadable-folder", f"{shown(folder)} cannot be read: {reason}.", "Check who owns it."
            ) from error
        for info in self.roots((), others=True):
            if info.found and _identity(info.path) == _identity(path):
                return info.root
        mounts = self.mounts()
        place = mounts.place_of(path) if mounts is not None else None
        if place is None or not place.uuid:
            return LibraryRoot(kind=RootKind.FOLDER, path=str(path))
        return LibraryRoot(kind=RootKind.CARD, path=str(path), uuid=place.uuid, relative=place.relative)

    def _info(self, root: LibraryRoot, mounts: Mounts | None, *, found: bool = False) -> RootInfo:
        here = mounts.find(root.uuid, root.relative) if root.uuid and mounts is not None else Path(root.path)
        path = here or Path(root.path)
        info = RootInfo(root=root, path=path, name=root.owner or shown(path.name) or shown(path), found=found)
        if here is None:
            return msgspec.structs.replace(
                info, state=RootState.NOT_INSERTED, problem=f"The card or drive with {info.name} is not inserted."
            )
        try:
            with os.scandir(path):
                pass
        except (FileNotFoundError, NotADirectoryError):
            text = f"The folder {shown(path)} is not there."
            gone = msgspec.structs.replace(info, state=RootState.MISSING, problem=text)
            return _with_room(gone, mounts, _there(path)) if root.kind is RootKind.OWN else gone
        except (OSError, ValueError) as error:
            text = f"{shown(path)} cannot be read: {getattr(error, 'strerror', None) or error}."
            if root.kind is RootKind.OLLAMA and isinstance(error, PermissionError):
                text += " Who is in the group “ollama” may read it."
            return msgspec.structs.replace(info, state=RootState.UNREADABLE, problem=text)
        return _with_room(info, mounts, path)


def _there(path: Path) -> Path:
    """``path``, or the folder above it that is there."""
    return next((folder for folder in (path, *path.parents) if folder.is_dir()), path)


def _with_room(info: RootInfo, mounts: Mounts | None, folder: Path) -> RootInfo:
    """Figures of the file system of ``folder``, which is the root's or will hold it."""
    free = total = None
    with contextlib.suppress(OSError):
        usage = shutil.disk_usage(folder)
        free, total = usage.free, usage.total
    mount = mounts.of(Path(os.path.realpath(folder))) if mounts is not None else None
    return msgspec.structs.replace(
        info,
        free=free,
        total=total,
        writable=os.access(folder, os.W_OK | os.X_OK),
        file_limit=mount.file_limit if mount else None,
        file_system=mount.file_system if mount else "",
    )


def _identity(path: Path) -> tuple[int, int] | Path:
    try:
        info = path.stat()
    except (OSError, ValueError):
        return path
    return info.st_dev, info.st_ino
