"""Adding folders to the library and taking them off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.jobs import Ok, Result, SerialRunner
from app.library.settings import LibrarySettings
from app.settings.store import SettingsStore
from engine.errors import VrambleError
from engine.library.roots import LibraryRoot, RootInfo
from engine.library.whereabouts import Whereabouts

Taken = Callable[[LibraryRoot | VrambleError], None]


class RootChanges:
    """Changes which folders are looked at. Files stay as they are."""

    def __init__(self, settings: SettingsStore | None, where: Whereabouts, runner: SerialRunner) -> None:
        self._settings = settings
        self._where = where
        self._runner = runner

    def add(self, path: Path, present: Sequence[RootInfo], taken: Taken) -> None:
        """Add a folder; ``present`` is what is shown. ``taken`` gets its root or why it was not added."""
        where = self._where

        def finish(result: Result[LibraryRoot]) -> None:
            if isinstance(result, Ok):
                taken(self._keep(result.value, present))
            elif isinstance(result.error, VrambleError):
                taken(result.error)
            else:
                raise result.error

        self._runner.run(lambda: where.root_for(path), finish)

    def remove(self, root_id: str) -> None:
        """Take a folder off the list; one that was found by itself is hidden."""
        store = self._settings
        if store is None:
            return
        settings = store.get(LibrarySettings)
        roots = tuple(root for root in settings.roots if root.id != root_id)
        hidden = settings.hidden if len(roots) < len(settings.roots) else (*settings.hidden, root_id)
        store.put(msgspec.structs.replace(settings, roots=roots, hidden=tuple(dict.fromkeys(hidden))))

    def show(self, root_id: str) -> None:
        """Show a hidden folder again."""
        if self._settings is not None:
            settings = self._settings.get(LibrarySettings)
            hidden = tuple(one for one in settings.hidden if one != root_id)
            self._settings.put(msgspec.structs.replace(settings, hidden=hidden))

    def _keep(self, root: LibraryRoot, present: Sequence[RootInfo]) -> LibraryRoot | VrambleError:
        store = self._settings
        if store is None:
            return VrambleError("no-settings", "Folders cannot be added here.")
        same = {info.id for info in present} | {info.path for info in present}
        if root.id in same or Path(root.path) in same:
            return VrambleError("already-in-library", "This folder is in the library already.")
        settings = store.get(LibrarySettings)
        hidden = tuple(one for one in settings.hidden if one != root.id)
        roots = settings.roots if root.owner else (*settings.roots, root)
        store.put(msgspec.structs.replace(settings, roots=roots, hidden=hidden))
        return root
