"""Which files are candidates for each backend: the engine's own folder and the user's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.backends.kinds import is_plugin_name, kind_of, load_rank


@dataclass(frozen=True)
class Folder:
    """A folder with plugins. ``users``: the user put them there, so they go before the engine's own."""

    path: Path
    users: bool = False


@dataclass(frozen=True)
class PluginFile:
    """A candidate, not looked into yet."""

    path: Path
    users: bool

    @property
    def kind(self) -> str:
        """As in `engine.backends.kinds`."""
        return kind_of(self.path)


def find_plugins(folders: Sequence[Folder]) -> dict[str, list[list[PluginFile]]]:
    """Kind -> for each folder that has files of this kind a group of them, the user's before the engine's own.

    Kinds come in load order. A file that is there under two names or in two folders (links) is one candidate: the one
    that comes first.
    """
    kinds: dict[str, list[list[PluginFile]]] = {}
    seen: set[str] = set()
    for folder in sorted(folders, key=lambda folder: not folder.users):
        groups: dict[str, list[PluginFile]] = {}
        for path in _names(folder.path):
            place = _place(path)
            if place not in seen:
                seen.add(place)
                groups.setdefault(kind_of(path), []).append(PluginFile(path, folder.users))
        for kind, group in groups.items():
            kinds.setdefault(kind, []).append(group)
    return dict(sorted(kinds.items(), key=lambda item: load_rank(item[0])))


def _names(folder: Path) -> list[Path]:
    """Files named as plugins, known kinds first, so that of two names for one file the better one counts."""
    try:
        found = [path for path in folder.iterdir() if is_plugin_name(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        print(f"the folder of plugins {folder} cannot be read: {error.strerror}", file=sys.stderr, flush=True)
        return []
    return sorted(found, key=lambda path: (load_rank(kind_of(path)), path.is_symlink(), path.name))


def _place(path: Path) -> str:
    """The file behind links; a link to nothing is itself."""
    try:
        return str(path.resolve(strict=True))
    except (OSError, RuntimeError):
        return str(path)
