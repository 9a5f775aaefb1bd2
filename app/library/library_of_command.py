"""The library as commands see it: scanned once, at once."""

from __future__ import annotations

from pathlib import Path

from app.paths import find_paths
from engine.errors import VrambleError
from engine.library.everywhere import read_wishes, survey
from engine.library.lookup import find_model
from engine.library.names import shown
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo, RootKind


class CommandLibrary:
    """All folders of the library, as of the last `scan`."""

    def __init__(self) -> None:
        self.paths = find_paths()
        self.survey = survey(self.paths)
        self.scan()

    def scan(self) -> None:
        """Look again."""
        self._found = self.survey.scan(read_wishes(self.paths))

    @property
    def models(self) -> tuple[InstalledModel, ...]:
        """All models by name."""
        return self._found.models

    @property
    def roots(self) -> tuple[RootInfo, ...]:
        """Folders that are shown."""
        return self._found.roots

    @property
    def own(self) -> RootInfo:
        """The own models folder."""
        return next(root for root in self.roots if root.root.kind is RootKind.OWN)

    def named(self, name: str) -> InstalledModel:
        """The model that ``name`` means. Raises VrambleError."""
        path = find_model(self.paths.models, name, lambda: self.models)
        for model in self.models:
            if path == model.path or path in model.parts:
                return model
        raise VrambleError(
            "not-installed", f"{shown(path)} is not in the library.", "“vramble models folders” shows its folders."
        )

    def root(self, model: InstalledModel) -> RootInfo:
        """The folder that ``model`` lies in."""
        return next(root for root in self.roots if root.id == model.root)

    def root_path(self, model: InstalledModel) -> Path:
        """Where that folder is now."""
        return self.root(model).path

    def root_named(self, name: str) -> RootInfo:
        """The folder with this id, name or path. Raises VrambleError: ``no-such-root``."""
        path = Path(name).absolute()
        for root in self.roots:
            if name in (root.id, root.name) or path == root.path:
                return root
        raise VrambleError(
            "no-such-root",
            f"{name} is no folder of the library.",
            f"Add it first: vramble models folders add {name}",
        )
