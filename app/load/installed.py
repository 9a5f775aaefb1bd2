"""The models of the library by their paths: forecasts for thousands of rows ask again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.library.records import InstalledModel


class Installed:
    """Finds models. ``models`` gives those of this moment, another sequence when they are others."""

    def __init__(self, models: Callable[[], Sequence[InstalledModel]]) -> None:
        self._models = models
        self._seen: Sequence[InstalledModel] = ()
        self._by_path: Mapping[Path, InstalledModel] = {}

    def find(self, path: Path) -> InstalledModel | None:
        """The model at ``path``."""
        models = self._models()
        if models is not self._seen:
            self._seen, self._by_path = models, {model.path: model for model in models}
        return self._by_path.get(path)
